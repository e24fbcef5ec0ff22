// Package images serves catalog images, the only part of the API without an API key (API specification, GET
// /catalog/images/{fileId}).
//
// Content is always read from the catalog, so an image is no longer served once its gift has left the catalog. Revalidations
// (304) and HEAD are answered from memory for a minute after the catalog last served the image. Callers and caches may keep
// their copies forever, because the content of a file never changes.
package images

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Deps are what a Handler works with.
type Deps struct {
	Images   catalogv1.ImagesServiceClient
	Limiter  *limits.Limiter
	Errors   httperror.Writer
	ClientIP func(r *http.Request) string
	Clock    func() time.Time
}

// Config of a Handler. Prefix is the prefix of the paths; the id of the image follows.
type Config struct {
	Prefix string
}

// Handler serves images.
type Handler struct {
	deps  Deps
	cfg   Config
	cache *cache
}

// New makes a Handler.
func New(deps Deps, cfg Config) *Handler {
	return &Handler{deps: deps, cfg: cfg, cache: newCache(deps.Clock)}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h.check(w.Header(), r)
	if err == nil {
		err = h.serve(w, r, strings.TrimPrefix(r.URL.Path, h.cfg.Prefix))
	}
	if err != nil {
		h.deps.Errors.Write(r.Context(), w, err)
	}
}

// check counts the request and refuses methods other than GET and HEAD.
func (h *Handler) check(header http.Header, r *http.Request) error {
	verdict := h.deps.Limiter.TakeIP(r.Context(), h.deps.ClientIP(r))
	h.deps.Limiter.WriteHeaders(header, verdict)
	if !verdict.Allowed {
		return httperror.RateLimited("This address has read too many images in the last minute.", verdict.Reset)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		return problem.New(problem.MethodNotAllowed, "Images are read-only.")
	}
	return nil
}

// serve reads the content only if the response has a body.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, id string) error {
	if !utf8.ValidString(id) {
		return problem.RecordNotFound()
	}
	head := r.Method == http.MethodHead
	if head || r.Header.Get("If-None-Match") != "" {
		f, err := h.file(r.Context(), id)
		if err != nil {
			return err
		}
		if held, _ := caller.ParseCondition(r.Header.Values("If-None-Match")); held.HasWeakly(f.etag) {
			f.writeCacheHeaders(w.Header())
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		if head { // Ranges are for GET only.
			f.writeHeaders(w.Header(), f.size)
			w.WriteHeader(http.StatusOK)
			return nil
		}
	}
	image, err := h.read(r.Context(), id, false)
	if err != nil {
		return err
	}
	return fileOf(image).send(w, r, image.GetContent())
}

func (h *Handler) file(ctx context.Context, id string) (file, error) {
	if f, ok := h.cache.get(id); ok {
		return f, nil
	}
	image, err := h.read(ctx, id, true)
	return fileOf(image), err
}

func (h *Handler) read(ctx context.Context, id string, headOnly bool) (*catalogv1.GetImageResponse, error) {
	image, err := h.deps.Images.GetImage(ctx, &catalogv1.GetImageRequest{FileId: id, HeadOnly: headOnly})
	switch {
	case problem.Is(err, problem.NotFound):
		h.cache.remove(id)
	case err == nil:
		h.cache.add(id, fileOf(image))
	}
	return image, err
}

func (f file) send(w http.ResponseWriter, r *http.Request, content []byte) error {
	f.size = int64(len(content))
	status := http.StatusOK
	if part, requested := f.requestedRange(r.Header); requested {
		w.Header().Set("Content-Range", f.contentRange(part))
		if part.length == 0 {
			return problem.New(problem.RangeNotSatisfiable, "The image has %d bytes.", f.size)
		}
		status, content = http.StatusPartialContent, content[part.start:part.start+part.length]
	}
	f.writeHeaders(w.Header(), int64(len(content)))
	w.WriteHeader(status)
	_, _ = w.Write(content) //nolint:gosec // It has the type of an image, and browsers are told not to guess.
	return nil
}

// writeCacheHeaders allows copies to be kept forever, because the content of a file never changes.
func (f file) writeCacheHeaders(header http.Header) {
	header.Set("ETag", f.etag)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("X-Content-Type-Options", "nosniff")
}

func (f file) writeHeaders(header http.Header, length int64) {
	f.writeCacheHeaders(header)
	header.Set("Accept-Ranges", "bytes")
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Length", strconv.FormatInt(length, 10))
}

const (
	// lifetime is how long the header fields of a visible image are cached. For this time after a gift has left the catalog, a
	// caller may still get the response that its copy is current. The content is read from the catalog every time.
	lifetime = time.Minute
	// maxFiles bounds the memory to about 10 MB.
	maxFiles = 50_000
)

// file is an image without its content.
type file struct {
	contentType string
	etag        string
	size        int64
}

func fileOf(image *catalogv1.GetImageResponse) file {
	return file{contentType: image.GetContentType(), etag: `"` + image.GetDigest() + `"`, size: image.GetSize()}
}

// cache holds the header fields of recently visible images, so that revalidations need no call of the catalog.
type cache struct {
	clock func() time.Time

	mu    sync.Mutex
	files *simplelru.LRU[string, entry]
}

type entry struct {
	file
	expires time.Time
}

func newCache(clock func() time.Time) *cache {
	files, err := simplelru.NewLRU[string, entry](maxFiles, nil)
	if err != nil {
		panic(err) // The size is positive.
	}
	return &cache{clock: clock, files: files}
}

func (c *cache) get(id string) (file, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.files.Get(id)
	if ok && c.clock().Before(e.expires) {
		return e.file, true
	}
	c.files.Remove(id)
	return file{}, false
}

func (c *cache) add(id string, f file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files.Add(id, entry{file: f, expires: c.clock().Add(lifetime)})
}

func (c *cache) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files.Remove(id)
}
