//go:build !linux

package main

import (
	"errors"
	"runtime"
)

func prepare(string) (image, error) {
	return image{}, unavailable{errors.New("needs Linux, and Debian's packages: this is " + runtime.GOOS)}
}

type image struct{}

func (image) boot(string, []string, string) (int, error) { return noPackages, nil }
