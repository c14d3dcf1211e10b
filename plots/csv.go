package plots

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteCSV writes the numbers that the chart draws, in base units: a line for
// each point, with the layer it belongs to. What a point lacks is empty.
func (c *Chart) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	y := columnName(c.Y)
	if err := out.Write([]string{"layer", columnName(c.X), y, y + "_lo", y + "_hi"}); err != nil {
		return err
	}
	for _, l := range c.Layers {
		for d := range l.data() {
			row := []string{l.name(), cellText(d.x), cellText(d.y), cellText(d.lo), cellText(d.hi)}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// columnName turns "Time since start", s into time_since_start_s.
func columnName(a Axis) string {
	words := strings.FieldsFunc(strings.ToLower(a.Label+" "+a.Unit), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127)
	})
	return strings.Join(words, "_")
}

func cellText(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
