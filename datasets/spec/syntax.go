package spec

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// assignment is option=value, or the option alone.
type assignment struct {
	name, value string
	alone       bool
}

// splitOptions reads "a=1,b=\"x,y\",c" into assignments; an option alone is "true".
func splitOptions(text string) ([]assignment, error) {
	var options []assignment
	for text != "" {
		name, rest, found := cutAny(text, "=,")
		if name == "" {
			return nil, fmt.Errorf("want option=value, got %q", text)
		}
		value := "true"
		if found == '=' {
			var err error
			if value, rest, err = cutValue(rest); err != nil {
				return nil, fmt.Errorf("option %q: %w", name, err)
			}
		} else if found == ',' && rest == "" {
			return nil, fmt.Errorf("nothing follows the comma after %q", name)
		}
		options = append(options, assignment{name, value, found != '='})
		text = rest
	}
	return options, nil
}

func cutAny(s, separators string) (before, after string, found byte) {
	if i := strings.IndexAny(s, separators); i >= 0 {
		return s[:i], s[i+1:], s[i]
	}
	return s, "", 0
}

func cutValue(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, found := cutAny(s, ",")
		if found == ',' && rest == "" {
			return "", "", fmt.Errorf("nothing follows the comma after %q", value)
		}
		return value, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("the quote in %s is not closed", s)
	}
	value, err = strconv.Unquote(quoted)
	if err != nil {
		return "", "", fmt.Errorf("%s is not a quoted string", quoted)
	}
	rest = s[len(quoted):]
	if rest != "" && (rest[0] != ',' || rest == ",") {
		return "", "", fmt.Errorf("want a comma and an option after %s", quoted)
	}
	return value, strings.TrimPrefix(rest, ","), nil
}

func canonical(name string, fs *flag.FlagSet) string {
	var b strings.Builder
	b.WriteString(name)
	separator := byte(':')
	fs.VisitAll(func(f *flag.Flag) {
		b.WriteByte(separator)
		separator = ','
		b.WriteString(f.Name + "=" + quote(tidy(f.Value)))
	})
	return b.String()
}

func quote(value string) string {
	if strings.ContainsAny(value, ",\"\\") || strconv.Quote(value) != `"`+value+`"` {
		return strconv.Quote(value)
	}
	return value
}

// tidy writes a value as a user would: 1m for the 1m0s of the time package.
func tidy(v flag.Value) string {
	if g, ok := v.(flag.Getter); ok {
		if d, ok := g.Get().(time.Duration); ok {
			return Duration(d)
		}
	}
	return v.String()
}

// Duration writes d in the shortest form that time.ParseDuration reads back:
// 1m, 1h30m, 250ms.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// isSwitch reports whether an option alone, without a value, means something.
func isSwitch(v flag.Value) bool {
	b, ok := v.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// wanted says what a value of this flag must look like.
func wanted(v flag.Value) string {
	if w, ok := v.(interface{ Wanted() string }); ok {
		return w.Wanted()
	}
	g, ok := v.(flag.Getter)
	if !ok {
		return "a value it takes"
	}
	switch g.Get().(type) {
	case time.Duration:
		return `a duration with its unit, such as "250ms"`
	case float64:
		return "a number"
	case int, int64, uint, uint64:
		return "a whole number in range"
	case bool:
		return `"true" or "false"`
	}
	return "a value it takes"
}
