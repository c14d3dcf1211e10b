package probes

import (
	"fmt"
	"os"
	"strings"
)

// secret returns what stands in a file, without the newline at its end, or if none is
// named in a variable of the environment. It never stands in a spec.
func secret(protocol, file, variable string) (string, error) {
	if file == "" {
		return os.Getenv(variable), nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: password: %w", protocol, err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}
