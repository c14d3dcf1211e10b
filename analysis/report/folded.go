package report

import "strings"

// sentence is the narrowest a field of words may be folded to.
const sentence = 24

// folded is a grid whose widest field of words, the first apart, is broken into lines
// so that everything fits; nil if that would leave it too narrow to read.
func folded(all []field, within int) []string {
	long := 0
	for i, f := range all {
		if i > 0 && !f.right && (long == 0 || widest(f.cells) > widest(all[long].cells)) {
			long = i
		}
	}
	to := widest(all[long].cells) - (widest(grid(all, true)) - within)
	if long == 0 || to < sentence {
		return nil
	}
	out := make([]field, len(all))
	copy(out, all)
	for i := range out {
		out[i].cells = nil
	}
	for r, cell := range all[long].cells {
		lines := fold(cell, to)
		for i := range out {
			if i == long {
				out[i].cells = append(out[i].cells, lines...)
				continue
			}
			out[i].cells = append(append(out[i].cells, all[i].cells[r]), make([]string, len(lines)-1)...)
		}
	}
	return grid(out, true)
}

// fold breaks text into lines of at most that width: at spaces and, in a word that is
// wider, such as a spec, after commas or wherever it must be.
func fold(text string, to int) (lines []string) {
	for _, line := range wrap(text, "", "", to) {
		for width(line) > to {
			head := string([]rune(line)[:to])
			if comma := strings.LastIndexByte(head, ','); comma > 0 {
				head = head[:comma+1]
			}
			lines, line = append(lines, head), line[len(head):]
		}
		lines = append(lines, line)
	}
	return lines
}
