package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
)

// handOn is where and in what form a verb writes a trace that it has read.
type handOn struct {
	in   input
	file string
	as   string
}

func (h *handOn) flags(cmd *cobra.Command) {
	h.in.flags(cmd)
	cmd.Flags().StringVarP(&h.file, "output", "o", "", "write to this `file`; its ending chooses the form (.gz and .zst compress)")
	cmd.Flags().StringVar(&h.as, "as", "", "write this `form`, whatever the file's name ends in: "+strings.Join(datasets.Exports().Names(), ", "))
	complete(cmd, "as", datasets.Exports().Names())
}

// part is a trace that is made of another's rows.
type part struct {
	note string // the header key that says so, and what it says
	what string
	keep func(datasets.Row) (bool, error)
	last func() bool // no row that follows is kept; nil is never
}

// trace writes what is kept of a stream. Of a part nothing is said that was measured of the
// whole: neither the rate nor the counts at its end.
func (h *handOn) trace(s *streams, stream datasets.Stream, p *part) error {
	form := h.as
	if form == "" {
		form = datasets.ExportFor(h.file)
	}
	export, _, err := datasets.Exports().Parse("form", form)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		zip, err := datasets.Compress(h.file, w)
		if err != nil {
			return err
		}
		if _, err := encode(zip, export, stream, p); err != nil {
			return err
		}
		return zip.Close()
	}
	if h.file == "" || h.file == "-" {
		err = write(s.out)
	} else {
		err = replaceFile(h.file, write)
	}
	if err != nil {
		return err
	}
	warnImport(s, stream)
	if loses := export.Loses(); loses != "" {
		fmt.Fprintf(s.err, "  ! %s: %s\n", form, loses)
	}
	return nil
}

// encode writes the rows that are kept, and returns how many they are.
func encode(w io.Writer, export datasets.Export, stream datasets.Stream, p *part) (rows int64, err error) {
	header := stream.Header().Clone()
	if p != nil {
		header.Set(p.note, p.what)
	}
	out, err := export.Begin(w, header)
	if err != nil {
		return 0, err
	}
	if rows, err = writeRows(out, stream, p); err != nil {
		return rows, err
	}
	if p != nil {
		return rows, out.Close()
	}
	return rows, out.Close(trailerOf(header, stream.Header(), stream.Warnings())...)
}

func writeRows(out datasets.Encoder, stream datasets.Stream, p *part) (rows int64, err error) {
	if p == nil {
		p = &part{keep: func(datasets.Row) (bool, error) { return true, nil }}
	}
	row, _ := datasets.NewRow(stream.Header().Kind())
	for (p.last == nil || !p.last()) && stream.Next(row) {
		kept, err := p.keep(row)
		if err == nil && kept {
			rows++
			err = out.Write(row)
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, stream.Err()
}

// one opens the only trace of a verb and hands it on.
func (h *handOn) one(ctx context.Context, s *streams, path string, p func(datasets.Stream) (*part, error)) error {
	stream, done, err := h.in.open(ctx, s, path)
	if err != nil {
		return err
	}
	defer done()
	var of *part
	if p != nil {
		if of, err = p(stream); err != nil {
			return err
		}
	}
	return h.trace(s, stream, of)
}
