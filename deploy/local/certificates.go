package local

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/partnergifting/platform/deploy/bootstrap"
)

// certificates is the folder with the stack's own authority and a certificate for every caller.
type certificates struct{ bootstrap.Certificates }

// newCertificates makes the certificates that are missing or near expiry, and keeps the others.
func newCertificates(dir string, now time.Time) (certificates, error) {
	dir, err := filepath.Abs(filepath.Join(dir, "tls"))
	if err != nil {
		return certificates{}, fmt.Errorf("folder of certificates: %w", err)
	}
	c := certificates{bootstrap.Certificates{Dir: dir, Authority: "Partner Gifting on this machine"}}
	_, err = c.Make(now)
	return c, err
}
