package netlab

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// What other clients print of a server's offset, read as θ: positive when the local
// clock is slow. All three have that sign themselves, and microseconds as their digits.

// printedByNTPDig reads the line of `ntpdig -j`.
func printedByNTPDig(text string) (time.Duration, error) {
	for line := range strings.Lines(text) {
		var answer struct {
			Offset *json.Number `json:"offset"`
		}
		if json.Unmarshal([]byte(line), &answer) == nil && answer.Offset != nil {
			return seconds(answer.Offset.String())
		}
	}
	return 0, fmt.Errorf("ntpdig: no offset in %q", text)
}

// printedByChronydQ reads the last lines of `chronyd -Q`: how much is to be added to
// the system's clock.
func printedByChronydQ(text string) (time.Duration, error) {
	return printed("chronyd -Q", text, `System clock wrong by (-?\d+\.\d+) seconds \(ignored\)`)
}

// printedByNTPCheck reads the average of `ntpcheck utils ntpdate`, which counts a
// request that got no answer as an offset of 0: such a text is refused.
func printedByNTPCheck(text string) (time.Duration, error) {
	if strings.Contains(text, "level=error") {
		return 0, fmt.Errorf("ntpcheck: an error in %q", text)
	}
	return printed("ntpcheck", text, `Average \(\d+ requests\):\nOffset: (-?\d+\.\d+)s \(`)
}

func printed(who, text, pattern string) (time.Duration, error) {
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("%s: no offset in %q", who, text)
	}
	return seconds(match[1])
}

// seconds reads a decimal number of them, to the digit.
func seconds(text string) (time.Duration, error) { return time.ParseDuration(text + "s") }
