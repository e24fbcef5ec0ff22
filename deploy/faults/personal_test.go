//go:build faults

package faults_test

import (
	"encoding/hex"
	"strings"
)

// Marked values stand for personal data: they must appear nowhere outside the sealed columns.
const (
	markedName   = "Zebedee Quillfeather"
	markedPhone  = "+46701112233"
	markedEmail  = "zebedee.quillfeather@example.org"
	markedStreet = "Kattfotsgränd 987"
)

// personal names the marked value in a text, as it is or as the database shows bytes.
func personal(where, text string) string {
	for _, marked := range []string{markedName, markedPhone, markedEmail, markedStreet} {
		if strings.Contains(text, marked) || strings.Contains(text, hex.EncodeToString([]byte(marked))) {
			return where + " shows " + marked
		}
	}
	return ""
}
