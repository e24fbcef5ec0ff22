// Package images stores the bytes of images in a blob store, by file id. A file never changes: its id is derived from its content.
//
// A URL names the store: a folder, file:///var/lib/gifting/images, or a bucket of S3 or a compatible server:
//
//	s3://gifting-images?region=eu-north-1&prefix=images/
//	s3://gifting-images?region=us-east-1&endpoint=https://minio.internal:9000&use_path_style=true&hostname_immutable=true
//
// The AWS SDK finds the credentials. They need only s3:GetObject and s3:PutObject on the objects of the bucket, which must be
// private: the service decides at each read whether the public may see a file.
package images

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // Opens file:// URLs.
	_ "gocloud.dev/blob/s3blob"   // Opens s3:// URLs.
	"gocloud.dev/gcerrors"

	"github.com/partnergifting/platform/pkg/problem"
)

// Files is a blob store of images.
type Files struct {
	bucket *blob.Bucket
}

// Open opens the store of a URL. It does not connect to it.
func Open(ctx context.Context, address string) (*Files, error) {
	address, err := withDefaults(address)
	if err != nil {
		return nil, err
	}
	bucket, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("open image store: %w", err)
	}
	return &Files{bucket: bucket}, nil
}

// Parameters that the URL does not set.
var (
	// Files are written beside their final place. The container image has no folder for temporary files, and a file cannot be moved
	// atomically from another file system.
	folderDefaults = map[string]string{"create_dir": "true", "no_tmp_dir": "true", "metadata": "skip"}
	// Over TLS the SDK sends a checksum behind the content. Many servers that are not Amazon's do not know that: they refuse the
	// upload, or store the checksum as a part of the file.
	endpointDefaults = map[string]string{
		"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required",
	}
)

func withDefaults(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("open image store: %w", err)
	}
	query, defaults := u.Query(), map[string]string(nil)
	switch {
	case u.Scheme == "file":
		defaults = folderDefaults
	case query.Has("endpoint"):
		defaults = endpointDefaults
	}
	for name, value := range defaults {
		if !query.Has(name) {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// Put stores the bytes of a file; storing them again changes nothing.
func (f *Files) Put(ctx context.Context, fileID, contentType string, content []byte) error {
	if err := f.bucket.WriteAll(ctx, fileID, content, &blob.WriterOptions{ContentType: contentType}); err != nil {
		return fmt.Errorf("store image: %w", unavailable(err))
	}
	return nil
}

// Get returns the bytes of a file.
func (f *Files) Get(ctx context.Context, fileID string) ([]byte, error) {
	content, err := f.bucket.ReadAll(ctx, fileID)
	if err != nil {
		return nil, fmt.Errorf("read image %s: %w", fileID, unavailable(err))
	}
	return content, nil
}

// unavailable makes an error of the store one that callers may repeat, unless the store lacks the file.
func unavailable(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return err
	}
	return errors.Join(problem.Unavailable(), err)
}

// Close closes the bucket.
func (f *Files) Close() error {
	if err := f.bucket.Close(); err != nil {
		return fmt.Errorf("close image store: %w", err)
	}
	return nil
}
