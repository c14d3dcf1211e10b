package datasets

import (
	"iter"
	"strconv"
	"strings"
)

// Facts are written in one cell, key=value with a space between two. A value that
// holds a space, a quote or nothing stands in quotes, as Go writes a string.

// AddFact writes down one more thing the daemon said, as it said it.
func (c *Claim) AddFact(key, value string) {
	if c.Facts != "" {
		c.Facts += " "
	}
	if value == "" || strings.ContainsFunc(value, needsQuotes) {
		value = strconv.Quote(value)
	}
	c.Facts += key + "=" + value
}

func needsQuotes(r rune) bool { return r == ' ' || r == '"' || notPlain(r) }

// Fact returns what the daemon said of key, and false if it said nothing of it.
func (c *Claim) Fact(key string) (string, bool) {
	for k, v := range c.AllFacts() {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// AllFacts yields the facts in their order. Text that is none ends them.
func (c *Claim) AllFacts() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		rest := c.Facts
		for rest != "" {
			key, after, found := strings.Cut(rest, "=")
			if !found {
				return
			}
			value, next, ok := cutValue(after)
			if !ok || !yield(key, value) {
				return
			}
			rest = next
		}
	}
}

// cutValue takes one value from the front of text.
func cutValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, " ")
		return value, rest, true
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", false
	}
	value, err = strconv.Unquote(quoted)
	rest, spaced := strings.CutPrefix(text[len(quoted):], " ")
	return value, rest, err == nil && (spaced || rest == "")
}
