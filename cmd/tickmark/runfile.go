package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
)

const runFileName = "run.json"

// runFile names the traces of a run and says how they came about.
type runFile struct {
	Tickmark string      `json:"tickmark"`
	Created  time.Time   `json:"created"`
	Command  string      `json:"command"`
	SelfTest string      `json:"self_test"`
	OwnNTP   bool        `json:"own_ntp"`  // the NTP server was this process, on the same clock
	OwnEcho  bool        `json:"own_echo"` // and so was the echo
	Injected []injection `json:"injected"`
	Failed   []string    `json:"failed"` // probes that could not measure, and why
	Traces   []runTrace  `json:"traces"`
}

// injection is a fault that was put into an embedded peer on purpose.
type injection struct {
	What   string        `json:"what"`
	Start  time.Time     `json:"start"`
	Length time.Duration `json:"length_ns"`
}

func (i injection) String() string {
	return fmt.Sprintf("%s for %s at %s", i.What, unit.Format(i.Length.Seconds(), "s"), i.Start.UTC().Format("15:04:05 UTC"))
}

type runTrace struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// expect names the traces before they are recorded, so that a run that is killed can
// still be reported.
func (r *runFile) expect(names []string) {
	for _, name := range names {
		r.Traces = append(r.Traces, runTrace{Name: name, File: name + ".trace"})
	}
}

// keep closes a recording and fills its entry; a probe that could not begin leaves no
// trace but its reason.
func (r *runFile) keep(folder, name string, rec *recorder, failed error) error {
	closed := rec.Close()
	path := filepath.Join(folder, name+".trace")
	if errors.Is(failed, context.Canceled) {
		failed = nil
	}
	if failed != nil {
		r.Failed = append(r.Failed, name+": "+strings.TrimPrefix(failed.Error(), name+": "))
	}
	if rec.w == nil {
		r.Traces = slices.DeleteFunc(r.Traces, func(t runTrace) bool { return t.Name == name })
		return nil // and the recorder has removed it
	} else if failed == nil && closed != nil {
		return renamed(path, closed)
	}
	digest, err := digestOf(path)
	for i := range r.Traces {
		if r.Traces[i].Name == name {
			r.Traces[i].Rows, r.Traces[i].SHA256 = rec.rows.Load(), digest
		}
	}
	return err
}

// doubt says what of a trace is not as the run left it, or "".
func (t *runTrace) doubt(folder string) string {
	digest, err := digestOf(filepath.Join(folder, t.File))
	switch {
	case err != nil:
		return err.Error()
	case t.SHA256 == "":
		return t.File + ": the run was killed before this trace was ended; what is in it is used"
	case digest != t.SHA256:
		return t.File + ": not as the run left it: its digest is another"
	}
	return ""
}

func (r *runFile) write(folder string) error {
	return replaceFile(filepath.Join(folder, runFileName), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	})
}

func readRunFile(folder string) (*runFile, error) {
	path := filepath.Join(folder, runFileName)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	r := &runFile{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: not a run of tickmark: %w", path, err)
	}
	if r.Tickmark == "" || len(r.Traces) == 0 {
		return nil, fmt.Errorf("%s: names no traces: not a run of tickmark", path)
	}
	for _, t := range r.Traces {
		if !filepath.IsLocal(t.File) {
			return nil, fmt.Errorf("%s: trace %q: want a file inside the run folder", path, t.File)
		}
	}
	return r, nil
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", plainPathError(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
