package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeBlocks runs every sh block of the README, in order, in one empty
// folder. A line with make is only asked whether the Makefile knows how.
func TestReadmeBlocks(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "tickmark")); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	blocks := shellBlocks(t, filepath.Join(root, "README.md"))
	if len(blocks) < 3 {
		t.Fatalf("%d sh blocks in the README, want the ones that teach", len(blocks))
	}
	for _, block := range blocks {
		cmd := exec.Command("sh", "-euc", strings.ReplaceAll(block, "make ", "make -n -C "+root+" "))
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, block, out)
		}
		t.Logf("%s\n%s", block, out)
	}
}

func shellBlocks(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var blocks []string
	var block *strings.Builder
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "```sh":
			block = &strings.Builder{}
		case line == "```" && block != nil:
			blocks = append(blocks, block.String())
			block = nil
		case block != nil:
			block.WriteString(line + "\n")
		}
	}
	return blocks
}
