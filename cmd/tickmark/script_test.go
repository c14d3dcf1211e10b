package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv("TICKMARK_STATE") == "" { // tests leave the user's own alone
		os.Setenv("TICKMARK_STATE", filepath.Join(os.TempDir(), fmt.Sprintf("tickmark-tests-%d", os.Getuid())))
	}
	testscript.Main(m, map[string]func(){"tickmark": main})
}

// TestScripts runs what a user would type: testdata/script/*.txtar.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("TICKMARK_STATE", env.Getenv("WORK")+"/state")
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
