package images

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// lifetime is how long the header fields of a visible image are cached. For this long after a gift has left the catalog,
	// a caller may still be told that its copy is current. The content is read from the catalog every time.
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

// cache remembers images that were visible a moment ago, so that revalidating a copy costs the catalog nothing.
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
