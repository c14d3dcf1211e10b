package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compressor is a writer below a Writer that must be closed after it.
type Compressor interface {
	io.WriteCloser
	Flush() error
}

// Compress returns a writer that compresses into w as the name asks (.gz, .zst),
// and passes bytes on as they are for any other name. What has been flushed can
// be read even if Close never comes; each flush costs some compression.
func Compress(name string, w io.Writer) (Compressor, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		return gzip.NewWriter(w), nil
	case strings.HasSuffix(name, ".zst"):
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return plainWriter{w}, nil
}

type plainWriter struct{ io.Writer }

func (plainWriter) Flush() error { return nil }
func (plainWriter) Close() error { return nil }

// Decompress returns the plain bytes of r, told by their first bytes to be gzip,
// zstd or neither. A compressed stream that was cut off ends in
// io.ErrUnexpectedEOF behind the last bytes that could be restored.
func Decompress(name string, r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, cutOff(name)
		} else if err != nil {
			return nil, fmt.Errorf("%s: gzip: %w", name, err)
		}
		return z, nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("%s: zstd: %w", name, err)
		}
		return z, nil
	}
	return buffered, nil
}

func cutOff(name string) error {
	return fmt.Errorf("%s: the compressed data was cut off before the first row", name)
}
