package probes

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/facebook/time/ntp/protocol"
	"github.com/facebook/time/ntp/protocol/nts"
	"github.com/facebook/time/ntp/protocol/nts/aessiv"
)

// ntsAEAD returns the cipher of a key. For AES-SIV-CMAC-256, which everybody must have,
// the library's own sends no nonce and takes none; RFC 5297 §6 wants one octet at
// least, and chrony drops a request without it. So its SIV is used with a nonce here.
func ntsAEAD(id uint16, key []byte) (nts.AEAD, error) {
	if protocol.AEADAlgorithm(id) != protocol.AEADAESSIVCMAC256 {
		return nts.NewAEAD(protocol.AEADAlgorithm(id), key)
	}
	siv, err := aessiv.NewAESSIV(key)
	return sivWithNonce{siv}, err
}

// sivWithNonce is AEAD_AES_SIV_CMAC_256 of RFC 5297 §6: the nonce is the last of the
// strings that are authenticated beside the text.
type sivWithNonce struct{ siv *aessiv.AESSIV }

// sivNonce is the length of the nonce, as RFC 8915 §5.6 recommends at least.
const sivNonce = 16

func (s sivWithNonce) Seal(ad, plaintext []byte) (nonce, ciphertext []byte, err error) {
	nonce = make([]byte, sivNonce)
	_, _ = rand.Read(nonce) // never fails: the program would have ended
	ciphertext, err = s.siv.Seal(nil, plaintext, ad, nonce)
	return nonce, ciphertext, err
}

func (s sivWithNonce) Open(ad, nonce, ciphertext []byte) ([]byte, error) {
	if len(nonce) == 0 {
		return nil, nts.ErrAEADNonceSize
	}
	return s.siv.Open(nil, ciphertext, ad, nonce)
}

// ntsRequest is base with the fields of RFC 8915 §5.7: an identifier for the reply to
// repeat, a cookie, places for more, and what authenticates all that stands before it.
func ntsRequest(base protocol.Packet, cipher nts.AEAD, id, cookie []byte, more int) ([]byte, error) {
	base.ExtensionFields = []protocol.ExtensionField{nts.NewUniqueIdentifier(id), nts.NewCookie(cookie)}
	for range more {
		base.ExtensionFields = append(base.ExtensionFields, nts.NewCookiePlaceholder(len(cookie)))
	}
	ad, err := base.AssociatedData(len(base.ExtensionFields))
	if err != nil {
		return nil, err
	}
	seal, err := nts.SealAuthenticator(cipher, ad, nil)
	if err != nil {
		return nil, err
	}
	base.ExtensionFields = append(base.ExtensionFields, seal)
	return base.Bytes()
}

// ntsReply returns the cookies of an authentic reply to the request of that identifier.
func ntsReply(reply []byte, cipher nts.AEAD, id []byte) (cookies [][]byte, err error) {
	var p protocol.Packet
	if err := p.UnmarshalBinary(reply); err != nil {
		return nil, fmt.Errorf("nts: %w", err)
	}
	last := len(p.ExtensionFields) - 1
	if last < 0 || p.ExtensionFields[last].Type != protocol.NTSAuthenticator {
		return nil, errors.New("nts: the reply is not authenticated")
	}
	known := false
	for _, f := range p.ExtensionFields[:last] {
		known = known || f.Type == protocol.UniqueIdentifier && bytes.Equal(f.Body, id)
	}
	if !known {
		return nil, errors.New("nts: the reply is to another request")
	}
	ad, err := p.AssociatedData(last)
	if err != nil {
		return nil, fmt.Errorf("nts: %w", err)
	}
	inside, err := nts.OpenAuthenticator(cipher, ad, p.ExtensionFields[last])
	if err != nil {
		return nil, fmt.Errorf("nts: the reply is not authentic: %w", err)
	}
	return ntsCookies(inside)
}

// ntsCookies are those that were sent encrypted.
func ntsCookies(inside []byte) (cookies [][]byte, err error) {
	fields, err := protocol.ParseExtensionFields(inside)
	if err != nil {
		return nil, fmt.Errorf("nts: %w", err)
	}
	for _, f := range fields {
		if f.Type == protocol.NTSCookie {
			cookies = append(cookies, f.Body)
		}
	}
	return cookies, nil
}
