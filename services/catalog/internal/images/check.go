package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
)

// checkObject is what Check uploads. No file id has its form.
const checkObject = "readiness-check"

// checkInterval is how long Check waits between uploads that fail, checkTimeout how long one may take.
const (
	checkInterval = 2 * time.Second
	checkTimeout  = 10 * time.Second
)

var (
	errNoUpload = errors.New("the image store (GIFTING_IMAGES_URL) has not taken a file yet")
	errChanged  = errors.New("the store changed the file")
)

// Check finds out once whether the store accepts an upload and returns it. A store that fails later makes uploads fail, and
// nothing else: prices and orders need no images.
type Check struct {
	files     *Files
	succeeded atomic.Bool
	lastErr   atomic.Pointer[error]
}

// NewCheck makes a check of the store.
func NewCheck(files *Files) *Check { return &Check{files: files} }

// Ready returns an error until the check has succeeded.
func (c *Check) Ready(context.Context) error {
	if c.succeeded.Load() {
		return nil
	}
	if cause := c.lastErr.Load(); cause != nil {
		return fmt.Errorf("%w: %w", errNoUpload, *cause)
	}
	return errNoUpload
}

// Part uploads until it succeeds.
func (c *Check) Part(log *slog.Logger) daemon.Part {
	return daemon.Part{Name: "image store", Run: func(ctx context.Context) error {
		ticker := time.NewTicker(checkInterval)
		defer ticker.Stop()
		for {
			err := c.upload(ctx)
			if err == nil || ctx.Err() != nil {
				<-ctx.Done()
				return nil
			}
			log.WarnContext(ctx, "the image store takes no files, trying again", "error", err)
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}}
}

func (c *Check) upload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	content := []byte("ok")
	err := c.files.Put(ctx, checkObject, "text/plain", content)
	if err == nil {
		var got []byte
		if got, err = c.files.Get(ctx, checkObject); err == nil && !bytes.Equal(got, content) {
			err = errChanged
		}
	}
	c.lastErr.Store(&err)
	c.succeeded.Store(err == nil)
	return err
}
