// Package staticfile serves files that a program has made or embedded. They need no API key and cost little: each has an ETag, and only
// GET and HEAD are allowed.
package staticfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
)

// Cache-Control of files: with Revalidate, readers see updates immediately. A Versioned file has another path when it changes.
const (
	Revalidate = "no-cache"
	Versioned  = "public, max-age=31536000, immutable"
)

// File is a response made in advance.
type File struct {
	contentType, cacheControl, etag string
	content                         []byte
}

// New makes a File.
func New(contentType, cacheControl string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{contentType: contentType, cacheControl: cacheControl, etag: `"` + hex.EncodeToString(sum[:]) + `"`, content: content}
}

// Handler serves the files of its paths. Policy is the Content-Security-Policy of all of them.
type Handler struct {
	Files  map[string]File
	Policy string
	Errors httperror.Writer
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := h.Files[r.URL.Path]
	header := w.Header()
	switch {
	case !ok:
		h.Errors.Write(r.Context(), w, problem.New(problem.NotFound, "There is no such path."))
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		h.Errors.Write(r.Context(), w, problem.New(problem.MethodNotAllowed, "This page is read-only."))
		return
	}
	header.Set("Content-Type", f.contentType)
	header.Set("ETag", f.etag)
	header.Set("Cache-Control", f.cacheControl)
	header.Set("Content-Security-Policy", h.Policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}
