package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// dialect reads the lines of one file of another tool. It may remember what it has read.
type dialect interface {
	// line reads one line, without its end, and puts the rows that it completes into out.
	// An error says what is wrong with the line: "offset "12,5": want a decimal number".
	line(text []byte, out *rows) error
	// end is told that no line follows.
	end(out *rows) error
}

// byLine makes an importer of a dialect.
func byLine(begin func() dialect) func(name string, r *bufio.Reader) importer {
	return func(name string, r *bufio.Reader) importer {
		return &textLines{name: name, r: r, dialect: begin()}
	}
}

// textLines hands a file to a dialect line by line.
type textLines struct {
	name    string
	r       *bufio.Reader
	n       int64
	dialect dialect
	ended   bool
}

func (t *textLines) next(out *rows) error {
	if t.ended {
		return io.EOF
	}
	// A row that a faulty line had begun is none.
	before := len(out.queue)
	line, err := t.read()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		out.say("the compressed data is cut off: what is here is what could be restored")
	case errors.Is(err, io.EOF) && len(line) > 0:
		out.say("the last line has no end: if the file was cut off there, its last value is wrong")
		fallthrough
	case err == nil:
		if wrong := t.dialect.line(line, out); wrong != nil {
			err = t.wrong(wrong)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.ended = true
		if wrong := t.dialect.end(out); wrong != nil {
			return t.wrong(wrong)
		}
		return nil
	}
	if _, faulty := errors.AsType[*SyntaxError](err); faulty {
		for len(out.queue) > before {
			out.drop()
		}
	}
	return err
}

func (t *textLines) place() int64 { return t.n }

func (t *textLines) wrong(err error) error { return &SyntaxError{t.name, t.n, err.Error()} }

// read returns the next line without its end; one that is too long is passed over.
func (t *textLines) read() ([]byte, error) {
	line, err := t.r.ReadSlice('\n')
	if len(line) > 0 {
		t.n++
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = t.r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%s:%d: %w", t.name, t.n, err)
		}
		return nil, t.wrong(fmt.Errorf("a line of more than %d bytes", maxLine))
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s:%d: %w", t.name, t.n+1, err)
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), err
}

// firstLines yields the whole lines of a file's head, without their ends.
func firstLines(head []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(head) {
			if !yield(bytes.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}
