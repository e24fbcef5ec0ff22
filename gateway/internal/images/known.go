package images

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// Lifetime is how long what is known of an open image holds. For this long after a gift has left
	// the catalog, an answer without content, that a caller's copy is good, may still be given;
	// content is not: it is asked of the catalog every time.
	Lifetime = time.Minute
	// maxKnown bounds the memory to some 10 MB.
	maxKnown = 50_000
)

// file is what is known of an open image without its content.
type file struct {
	contentType string
	etag        string
	size        int64
}

func fileOf(image *catalogv1.GetImageResponse) file {
	return file{contentType: image.GetContentType(), etag: `"` + image.GetDigest() + `"`, size: image.GetSize()}
}

// known remembers images that were open a moment ago, so that telling a caller that its copy is
// good costs the catalog nothing.
type known struct {
	clock func() time.Time

	mu    sync.Mutex
	files *simplelru.LRU[string, entry]
}

type entry struct {
	file
	until time.Time
}

func newKnown(clock func() time.Time) *known {
	files, err := simplelru.NewLRU[string, entry](maxKnown, nil)
	if err != nil {
		panic(err) // Only a size that is not positive gets here.
	}
	return &known{clock: clock, files: files}
}

func (k *known) get(id string) (file, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.files.Get(id)
	if ok && k.clock().Before(e.until) {
		return e.file, true
	}
	k.files.Remove(id)
	return file{}, false
}

func (k *known) put(id string, f file) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files.Add(id, entry{file: f, until: k.clock().Add(Lifetime)})
}

// forget drops an image that is not open any more.
func (k *known) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files.Remove(id)
}
