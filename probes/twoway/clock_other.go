//go:build !linux

package twoway

import (
	"errors"
	"fmt"
)

func readDiscipline() (discipline, error) {
	return discipline{}, fmt.Errorf("adjtimex: %w on this system", errors.ErrUnsupported)
}
