package identity

import (
	"errors"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/settings"
)

// Files are the certificate, key and authorities of a process, as of now.
type Files struct {
	cfg   Config
	clock func() time.Time
	files *CertFiles[*material]
}

// Open reads the files. It fails if they do not hold an identity that is valid now.
func Open(cfg Config, clock func() time.Time, log *slog.Logger) (*Files, error) {
	if err := errors.Join(settings.Defaults(&cfg), cfg.Validate()); err != nil {
		return nil, err
	}
	f := &Files{cfg: cfg, clock: clock}
	var err error
	f.files, err = OpenCertFiles([]string{cfg.CertFile, cfg.KeyFile, cfg.CAFile}, f.read, clock, log)
	return f, err
}

// Until is when the certificate in use expires.
func (f *Files) Until() time.Time { return f.current().Until() }

func (f *Files) current() *material { return f.files.Current() }
