package server

import (
	"context"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// BrandLogos keeps the files of brands' logos.
type BrandLogos struct {
	catalogv1.UnimplementedBrandLogosServiceServer

	store     *store.Store
	files     *images.Files
	processor    *picture.Processor
	directory tenantsv1.DirectoryServiceClient
	imageBase string
}

// NewBrandLogos makes the service. publicURL is the base address integrators see.
func NewBrandLogos(
	st *store.Store, files *images.Files, processor *picture.Processor, directory tenantsv1.DirectoryServiceClient, publicURL string,
) *BrandLogos {
	return &BrandLogos{store: st, files: files, processor: processor, directory: directory, imageBase: imageBase(publicURL)}
}

// UploadBrandLogo stores a logo and opens it to the public.
func (b *BrandLogos) UploadBrandLogo(
	ctx context.Context, req *catalogv1.UploadBrandLogoRequest,
) (*catalogv1.UploadBrandLogoResponse, error) {
	errs := fields.FromContext(ctx)
	logo := rules.ReadLogo(req, errs)
	checkUpload(req.GetContent(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := b.checkBrand(ctx, logo); err != nil {
		return nil, err
	}
	file, err := b.processor.PrepareLogo(ctx, req.GetContent())
	if err != nil {
		return nil, unfitImage(err)
	}
	image, err := keep(ctx, b.files, file)
	if err != nil {
		return nil, err
	}
	return &catalogv1.UploadBrandLogoResponse{FileId: image.FileID, Url: b.imageBase + image.FileID}, b.store.PutLogo(ctx, logo, image)
}

// checkBrand asks the tenants service itself: a brand made a moment ago counts.
func (b *BrandLogos) checkBrand(ctx context.Context, logo rules.Logo) error {
	settings, err := b.directory.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: logo.TenantID})
	errs := &fields.Errors{}
	switch {
	case problem.Is(err, problem.NotFound):
		errs.Add("tenantId", problem.FieldInvalid, "names no tenant")
	case err != nil:
		return err
	case !slices.ContainsFunc(settings.GetBrands(), func(brand *tenantsv1.Brand) bool { return brand.GetId() == logo.BrandID }):
		errs.Add("brandId", problem.FieldInvalid, "names no brand of the tenant")
	}
	return errs.Err()
}
