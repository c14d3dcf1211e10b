package datasets

// fields splits a line at runs of blanks and tabs into the elements of dst, and returns
// how many there are, of which no more than len(dst) are kept. It does not allocate.
func fields(line []byte, dst [][]byte) int {
	n := 0
	for i := 0; i < len(line); {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if i == start {
			break
		}
		if n < len(dst) {
			dst[n] = line[start:i]
		}
		n++
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
