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

// keep closes a recording and takes it into the run; a probe that could not begin
// leaves no trace but its reason.
func (r *runFile) keep(folder, name string, rec *recorder, failed error) error {
	closed := rec.Close()
	path := filepath.Join(folder, name+".trace")
	if failed != nil && !errors.Is(failed, context.Canceled) {
		r.Failed = append(r.Failed, fmt.Sprintf("%s: %v", name, failed))
		if rec.w == nil {
			return os.Remove(path)
		}
	} else if closed != nil {
		return fmt.Errorf("%s: %w", path, closed)
	}
	digest, err := digestOf(path)
	if err != nil {
		return err
	}
	r.Traces = append(r.Traces, runTrace{name, name + ".trace", rec.rows.Load(), digest})
	return nil
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
		return nil, fmt.Errorf("%s: %w", path, err)
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
