package probes

import (
	"errors"
	"strings"
)

// splitWords splits a command line as a shell does, and does nothing else that a shell
// does: blanks separate words; 'in single quotes' everything is itself; "in double
// quotes" and outside of quotes a backslash makes the next character itself, in double
// quotes only one that needs it (POSIX.1-2024, XCU 2.2).
func splitWords(line string) (words []string, err error) {
	if strings.ContainsRune(line, 0) {
		return nil, errors.New("has a zero byte")
	}
	var word strings.Builder
	within := false // of a word, which may be empty: ''
	for len(line) > 0 {
		if strings.IndexByte(" \t\n", line[0]) >= 0 {
			line = line[1:]
			if within {
				words = append(words, word.String())
				word.Reset()
			}
			within = false
			continue
		}
		var text string
		if text, line, err = piece(line); err != nil {
			return nil, err
		}
		within = true
		word.WriteString(text)
	}
	if within {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("names no command")
	}
	return words, nil
}

// piece returns the beginning of a word: what is quoted, or one byte.
func piece(line string) (text, rest string, err error) {
	switch first := line[0]; {
	case first == '\'', first == '"':
		return quoted(line[1:], first)
	case first != '\\':
		return line[:1], line[1:], nil
	case len(line) == 1:
		return "", "", errors.New("ends with a backslash")
	}
	return line[1:2], line[2:], nil
}

// quoted reads up to the closing quote.
func quoted(line string, quote byte) (text, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			return b.String(), line[i+1:], nil
		case c == '\\' && quote == '"' && i+1 < len(line) && strings.IndexByte("\\\"$`\n", line[i+1]) >= 0:
			i++
			b.WriteByte(line[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("a quote is not closed")
}
