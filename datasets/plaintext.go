package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// plainText leaves out the byte order mark that some programs of Windows write in front
// of UTF-8, and turns UTF-16, which others write, into it.
func plainText(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, maxLine)
	mark, err := b.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	switch {
	case bytes.Equal(mark, []byte("\ufeff")):
		_, err := b.Discard(len(mark))
		return b, err
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe}), bytes.HasPrefix(mark, []byte{0xfe, 0xff}):
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
		return bufio.NewReaderSize(transform.NewReader(b, utf16.NewDecoder()), maxLine), nil
	}
	return b, nil
}
