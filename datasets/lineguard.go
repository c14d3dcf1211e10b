package datasets

import (
	"bytes"
	"fmt"
	"io"
)

// lineGuard ends a stream whose line is too long to be one, which bounds the memory
// of a reader that keeps whole lines.
type lineGuard struct {
	name string
	r    io.Reader
	line int64 // lines seen
	long int   // bytes since the last of them
}

func (g *lineGuard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	rest := p[:n]
	for {
		before, after, found := bytes.Cut(rest, []byte{'\n'})
		if g.long += len(before); g.long > maxLine {
			return 0, &SyntaxError{g.name, g.line + 1, fmt.Sprintf("a line of more than %d bytes", maxLine)}
		}
		if !found {
			return n, err
		}
		g.line, g.long, rest = g.line+1, 0, after
	}
}
