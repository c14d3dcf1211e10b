package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library makes room for what a file says of its own size before it looks whether that
// is there. So what is said is held to the file first: the size of its end, and of each
// page of a column before the first is read. What is inside a page stands under its checksum.

// The largest page that is read, and the most values in one: some hundred times what we
// write, and ten times what others do.
const (
	largestPage = 64 << 20
	largestEnd  = 64 << 20 // ours is of 3 MB for 1,000 million round trips
	mostInPage  = 1 << 24
)

// checkEnd looks at the last eight bytes, the size of the metadata in front of them and the
// magic.
func checkEnd(r io.ReaderAt, size int64) error {
	var end [8]byte
	if size < int64(len(end)+len(parquetMagic)) {
		return errors.New("cut off: too short to be a file of it")
	}
	if _, err := r.ReadAt(end[:], size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(end[4:]) != parquetMagic {
		return fmt.Errorf("cut off: ends in %s, not in %q", clip(end[4:]), parquetMagic)
	}
	if n := int64(binary.LittleEndian.Uint32(end[:])); n > min(size-int64(len(end)+len(parquetMagic)), largestEnd) {
		return fmt.Errorf("broken: it says that its metadata is of %d bytes, and it is of %d", n, size)
	}
	return nil
}

// checkPages holds the headers of the pages of a column of a group to what there is.
func checkPages(r io.ReaderAt, size int64, chunk *format.ColumnMetaData) error {
	at := chunk.DataPageOffset
	if d := chunk.DictionaryPageOffset; d != 0 {
		at = d
	}
	if at < 0 || chunk.TotalCompressedSize < 0 || at > size-chunk.TotalCompressedSize {
		return errors.New("lies outside the file")
	}
	var protocol thrift.CompactProtocol
	for end := at + chunk.TotalCompressedSize; at < end; {
		header, n, err := pageHeader(&protocol, r, at, end)
		if err != nil {
			return err
		}
		at += int64(n)
		switch {
		case header.CompressedPageSize < 0 || int64(header.CompressedPageSize) > end-at:
			return fmt.Errorf("a page says that it is of %d bytes, and there are %d", header.CompressedPageSize, end-at)
		case header.UncompressedPageSize < 0 || header.UncompressedPageSize > largestPage:
			return fmt.Errorf("a page says that it is of %d bytes: no more than %d are read", header.UncompressedPageSize, largestPage)
		case valuesOf(header) > mostInPage:
			return fmt.Errorf("a page says that it has %d values: no more than %d are read", valuesOf(header), mostInPage)
		}
		at += int64(header.CompressedPageSize)
	}
	return nil
}

// pageHeader reads a page's header, which is short unless the statistics in it are of long
// texts.
func pageHeader(protocol *thrift.CompactProtocol, r io.ReaderAt, at, end int64) (header format.PageHeader, n int, err error) {
	for _, room := range []int64{512, 4 * maxLine} {
		b := make([]byte, min(room, end-at))
		if _, err := r.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return header, 0, err
		}
		header = format.PageHeader{}
		from := protocol.NewReaderFromBytes(b)
		if err = thrift.NewDecoder(from).Decode(&header); err == nil {
			return header, from.BytesRead(), nil
		}
	}
	return header, 0, fmt.Errorf("the header of a page cannot be read: %w", plainParquet(err))
}

func valuesOf(h format.PageHeader) int32 {
	switch {
	case h.DataPageHeaderV2.Valid:
		return h.DataPageHeaderV2.V.NumValues
	case h.DataPageHeader.Valid:
		return h.DataPageHeader.V.NumValues
	}
	return h.DictionaryPageHeader.V.NumValues
}

// pagesOf returns the pages of a column of a group, once they are what they say.
func (p *Parquet) pagesOf(group, column int) (parquet.Pages, error) {
	if err := checkPages(p.under, p.size, &p.file.Metadata().RowGroups[group].Columns[column].MetaData); err != nil {
		return nil, err
	}
	return p.file.RowGroups()[group].ColumnChunks()[column].Pages(), nil
}
