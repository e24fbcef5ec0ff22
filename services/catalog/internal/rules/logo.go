package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// LogosKept is how many logos of a brand stay open, the latest: the one in use, and enough others
// that trying some out does not close it.
const LogosKept = 20

// Logo says whose logo an image is.
type Logo struct {
	TenantID string
	BrandID  string
}

// ReadLogo validates whose logo is uploaded.
func ReadLogo(req *catalogv1.UploadBrandLogoRequest, errs *fields.Errors) Logo {
	return Logo{
		TenantID: RecordID("tenantId", req.GetTenantId(), errs),
		BrandID:  RecordID("brandId", req.GetBrandId(), errs),
	}
}
