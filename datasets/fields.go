package datasets

// fields splits a line at runs of blanks and tabs into the elements of dst, and returns
// how many there are, of which no more than len(dst) are kept. It does not allocate.
func fields(line []byte, dst [][]byte) int {
	n, start := 0, -1
	for i, c := range line {
		if c != ' ' && c != '\t' {
			if start < 0 {
				start = i
			}
			continue
		}
		if start < 0 {
			continue
		}
		if n < len(dst) {
			dst[n] = line[start:i]
		}
		n++
		start = -1
	}
	if start >= 0 {
		if n < len(dst) {
			dst[n] = line[start:]
		}
		n++
	}
	return n
}
