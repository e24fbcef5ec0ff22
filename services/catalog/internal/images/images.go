// Package images keeps the bytes of images in a blob store, by file id. A file never changes: its
// id is made from its content.
package images

import (
	"context"
	"fmt"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // Opens file:// URLs.
)

// Files is a blob store of images.
type Files struct {
	bucket *blob.Bucket
}

// Open opens the bucket of a URL such as file:///var/lib/gifting/images?create_dir=true.
func Open(ctx context.Context, url string) (*Files, error) {
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("open image store: %w", err)
	}
	return &Files{bucket: bucket}, nil
}

// Put stores the bytes of a file; storing them again changes nothing.
func (f *Files) Put(ctx context.Context, fileID, contentType string, content []byte) error {
	if err := f.bucket.WriteAll(ctx, fileID, content, &blob.WriterOptions{ContentType: contentType}); err != nil {
		return fmt.Errorf("store image: %w", err)
	}
	return nil
}

// Get gives the bytes of a file.
func (f *Files) Get(ctx context.Context, fileID string) ([]byte, error) {
	content, err := f.bucket.ReadAll(ctx, fileID)
	if err != nil {
		return nil, fmt.Errorf("read image %s: %w", fileID, err)
	}
	return content, nil
}

// Close closes the bucket.
func (f *Files) Close() error {
	if err := f.bucket.Close(); err != nil {
		return fmt.Errorf("close image store: %w", err)
	}
	return nil
}
