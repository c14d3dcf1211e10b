//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
)

// cpio is an archive of the form that the kernel unpacks ("newc", cpio(5)).
type cpio struct {
	b      bytes.Buffer
	number int
	err    error
}

func (c *cpio) add(name string, mode int, body []byte) {
	c.number++
	fmt.Fprintf(&c.b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		c.number, mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(name)+1, 0, name)
	c.pad()
	c.b.Write(body)
	c.pad()
}

func (c *cpio) pad() {
	for c.b.Len()%4 != 0 {
		c.b.WriteByte(0)
	}
}

func (c *cpio) folder(name string)     { c.add(name, 0o040755, nil) }
func (c *cpio) link(name, to string)   { c.add(name, 0o120777, []byte(to)) }
func (c *cpio) text(name, body string) { c.add(name, 0o100644, []byte(body)) }

func (c *cpio) copy(name, path string) {
	body, err := os.ReadFile(path)
	if err != nil {
		c.err = errors.Join(c.err, err)
		return
	}
	c.add(name, 0o100755, body)
}

func (c *cpio) gzipped() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	c.add("TRAILER!!!", 0, nil)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(c.b.Bytes()); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil { // which writes the end
		return nil, err
	}
	return out.Bytes(), nil
}
