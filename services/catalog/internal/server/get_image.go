package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// GetImage returns an image that the public may see. Every other is not found.
func (i *imageServer) GetImage(ctx context.Context, req *catalogv1.GetImageRequest) (*catalogv1.GetImageResponse, error) {
	if !rules.IsFileID(req.GetFileId()) {
		return nil, problem.RecordNotFound()
	}
	image, open, err := i.store.OpenImage(ctx, req.GetFileId())
	if err != nil {
		return nil, err
	}
	if !open {
		return nil, problem.RecordNotFound()
	}
	resp := &catalogv1.GetImageResponse{ContentType: image.ContentType, Digest: image.Digest, Size: int64(image.Size)}
	if !req.GetHeadOnly() {
		resp.Content, err = i.files.Get(ctx, image.FileID)
	}
	return resp, err
}
