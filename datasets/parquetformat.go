package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"io"
)

func bindParquet(*flag.FlagSet) func() (Format, error) {
	return func() (Format, error) { return parquetFormat{}, nil }
}

// parquetFormat refuses what cannot be read from its end; [Open] takes care of what can.
type parquetFormat struct{}

func (parquetFormat) Recognise(head []byte) bool { return bytes.HasPrefix(head, []byte(parquetMagic)) }

func (parquetFormat) Open(name string, _ io.Reader) (Stream, error) {
	return nil, fmt.Errorf("%s: Parquet is read from its end: want a file of it, not compressed and not a pipe", name)
}

func isParquet(f RandomFile) bool {
	head := make([]byte, len(parquetMagic))
	n, err := f.ReadAt(head, 0)
	return err == nil && n == len(head) && string(head) == parquetMagic
}
