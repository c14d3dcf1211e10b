package twoway

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
)

// leastKey is how short a key may be, in bytes: RFC 2104 §3 discourages one shorter than
// the hash, which here is cut off to 16.
const leastKey = 16

// Key reads the key of the authenticated mode from a file: its text without the end of
// the line, or, behind "hex:", the bytes that it spells. No error tells the key.
func Key(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key := bytes.TrimRight(text, "\r\n")
	if digits, ok := bytes.CutPrefix(key, []byte("hex:")); ok {
		key = make([]byte, hex.DecodedLen(len(digits)))
		if _, err := hex.Decode(key, digits); err != nil {
			return nil, fmt.Errorf("key file %q: what follows \"hex:\" is not hexadecimal", file)
		}
	}
	if len(key) < leastKey {
		return nil, fmt.Errorf("key file %q: key of %d bytes: want at least %d", file, len(key), leastKey)
	}
	return key, nil
}
