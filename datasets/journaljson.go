package datasets

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"time"
)

// journalctl -o json writes an object a line (systemd.journal-fields(7)): the message of
// linuxptp's programs, who wrote it, and the wall time to the microsecond.
func bindJournalJSON(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isJournalJSON, byLine(func() dialect { return &journalJSON{} }))(fs)
}

type journalJSON struct{ ptp linuxptp }

func isJournalJSON(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"__REALTIME_TIMESTAMP"`))
}

func (j *journalJSON) line(text []byte, out *rows) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var entry struct {
		Wall       string          `json:"__REALTIME_TIMESTAMP"`
		Identifier string          `json:"SYSLOG_IDENTIFIER"`
		Message    json.RawMessage `json:"MESSAGE"`
	}
	if err := json.Unmarshal(text, &entry); err != nil {
		return fmt.Errorf("%s: want an object of journalctl -o json", clip(text))
	}
	var message string
	if !slices.Contains(ptpProcesses(), entry.Identifier) || json.Unmarshal(entry.Message, &message) != nil {
		return nil // another program, or bytes that are no text
	}
	wall, err := parseNanos([]byte(entry.Wall), time.Microsecond)
	if err != nil {
		return fmt.Errorf("__REALTIME_TIMESTAMP %w", err)
	}
	p := newPTPLine([]byte(message))
	p.process, p.wall = []byte(entry.Identifier), Some(wall)
	return j.ptp.put(&p, out)
}

func (j *journalJSON) end(out *rows) error { return j.ptp.end(out) }
