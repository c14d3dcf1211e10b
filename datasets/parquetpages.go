package datasets

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// pageCursor goes through one column of a group of rows, a page at a time. The values are
// those of the library, in its memory.
type pageCursor[T any] struct {
	pages   parquet.Pages
	page    parquet.Page
	load    func(parquet.Page) []T // the values that are there
	values  []T                    // what is left of the page, an absent one any
	present []bool                 // nil: all are
	spread  []T
	room    []bool
}

func (c *pageCursor[T]) close() error {
	parquet.Release(c.page)
	c.page, c.values = nil, nil
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages = nil
	return err
}

// open begins another group.
func (c *pageCursor[T]) open(pages parquet.Pages) error {
	err := c.close()
	c.pages = pages
	return err
}

// fill reads the next page, if nothing is left of this one, and returns how many values
// there are.
func (c *pageCursor[T]) fill() (int, error) {
	for len(c.values) == 0 {
		parquet.Release(c.page)
		c.page = nil
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return 0, errors.New("ends before the others")
		} else if err != nil {
			return 0, plainParquet(err)
		}
		c.page, c.present = page, nil
		c.values = c.load(page)
		if page.NumNulls() > 0 {
			c.fan(page.DefinitionLevels())
		}
	}
	return len(c.values), nil
}

// take returns the next n values, of those that fill has.
func (c *pageCursor[T]) take(n int) (values []T, present []bool) {
	values, c.values = c.values[:n], c.values[n:]
	if c.present != nil {
		present, c.present = c.present[:n], c.present[n:]
	}
	return values, present
}

// fan puts the values that are there into the places of those that may be.
func (c *pageCursor[T]) fan(levels []byte) {
	if cap(c.spread) < len(levels) {
		c.spread, c.room = make([]T, len(levels)), make([]bool, len(levels))
	}
	spread, present := c.spread[:len(levels)], c.room[:len(levels)]
	dense := c.values
	var none T
	at := 0
	for i, level := range levels {
		present[i] = level > 0
		spread[i] = none
		if level > 0 {
			spread[i] = dense[at]
			at++
		}
	}
	c.values, c.present = spread, present
}

// wholesOf returns the whole numbers of a page.
func wholesOf(page parquet.Page) []int64 {
	data := page.Data()
	dictionary := page.Dictionary()
	if dictionary == nil {
		return data.Int64()
	}
	words := dictionary.Page().Data()
	return looked(words.Int64(), data.Int32())
}

func realsOf(page parquet.Page) []float64 {
	data := page.Data()
	dictionary := page.Dictionary()
	if dictionary == nil {
		return data.Double()
	}
	words := dictionary.Page().Data()
	return looked(words.Double(), data.Int32())
}

func looked[T any](words []T, indices []int32) []T {
	values := make([]T, len(indices))
	for i, index := range indices {
		values[i] = words[index]
	}
	return values
}

// lexicon makes words of a dictionary's indices, once for each dictionary.
type lexicon struct {
	raw   bool // the words are as they stand
	of    parquet.Dictionary
	words []string
	count []int32
}

// indicesOf returns where in the words the values of a page are.
func (l *lexicon) indicesOf(page parquet.Page) []int32 {
	data := page.Data()
	if d := page.Dictionary(); d != nil {
		if d != l.of {
			l.of, l.words = d, l.split(d.Page().Data())
		}
		return data.Int32()
	}
	l.of, l.words = nil, l.split(data)
	for len(l.count) < len(l.words) {
		l.count = append(l.count, int32(len(l.count)))
	}
	return l.count[:len(l.words)]
}

func (l *lexicon) split(data encoding.Values) []string {
	text, offsets := data.ByteArray()
	var words []string
	for i := 1; i < len(offsets); i++ {
		word := string(text[offsets[i-1]:offsets[i]])
		if !l.raw {
			word = unquoted(word)
		}
		words = append(words, word)
	}
	return words
}
