package server

import (
	"context"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// UploadBrandLogo stores a logo and opens it to the public.
func (b *brandLogos) UploadBrandLogo(
	ctx context.Context, req *catalogv1.UploadBrandLogoRequest,
) (*catalogv1.UploadBrandLogoResponse, error) {
	errs := fields.FromContext(ctx)
	logo := rules.ReadLogo(req, errs)
	checkUpload(req.GetContent(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := b.checkBrand(ctx, logo.TenantID, logo.BrandID); err != nil {
		return nil, err
	}
	file, err := b.Processor.PrepareLogo(ctx, req.GetContent())
	if err != nil {
		return nil, refusedImage(err)
	}
	image, err := b.storeFile(ctx, file)
	if err != nil {
		return nil, err
	}
	return &catalogv1.UploadBrandLogoResponse{FileId: image.FileID, Url: b.present.imageBase + image.FileID}, b.Store.PutLogo(ctx, logo, image)
}

// checkBrand asks the tenants service itself, so that a brand made a moment ago counts.
func (d Deps) checkBrand(ctx context.Context, tenantID, brandID string) error {
	settings, err := d.Directory.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: tenantID})
	errs := &fields.Errors{}
	switch {
	case problem.Is(err, problem.NotFound):
		errs.Add("tenantId", problem.FieldInvalid, "names no tenant")
	case err != nil:
		return err
	case !slices.ContainsFunc(settings.GetBrands(), func(b *tenantsv1.Brand) bool { return b.GetId() == brandID }):
		errs.Add("brandId", problem.FieldInvalid, "names no brand of the tenant")
	}
	return errs.Err()
}
