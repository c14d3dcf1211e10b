package report

import "strings"

// markdown writes tables as GitHub shows them, with every column and its unit.
func markdown(d *Document) ([]byte, error) {
	var blocks []string
	for _, h := range d.Headline {
		if h = strings.TrimSpace(h); h != "" {
			blocks = append(blocks, escaped(h))
		}
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		if title := title(t, len(d.Tables) > 1); title != "" {
			blocks = append(blocks, "**"+escaped(title)+"**")
		}
		blocks = append(blocks, markdownTable(fields(t), len(t.Rows)))
	}
	var doubts []string
	for _, w := range d.Warnings {
		doubts = append(doubts, "- "+escaped(w))
	}
	if len(doubts) > 0 {
		blocks = append(blocks, strings.Join(doubts, "\n"))
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	return []byte(printable(strings.Join(blocks, "\n\n") + "\n")), nil
}

func markdownTable(all []field, rows int) string {
	lines := make([][]string, rows+2)
	for _, f := range all {
		name, rule := f.title(), "---"
		if f.unit != "" {
			name += " (" + f.unit + ")"
		}
		if f.right {
			rule = "---:"
		}
		lines[0] = append(lines[0], escaped(name))
		lines[1] = append(lines[1], rule)
		for i, c := range f.cells {
			lines[i+2] = append(lines[i+2], escaped(strings.TrimSpace(c)))
		}
	}
	out := make([]string, len(lines))
	for i, cells := range lines {
		out[i] = "| " + strings.Join(cells, " | ") + " |"
	}
	return strings.Join(out, "\n")
}

// escaped keeps text from being read as markup.
func escaped(s string) string {
	marks := strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "&", "&amp;")
	return marks.Replace(strings.Join(strings.Fields(s), " "))
}
