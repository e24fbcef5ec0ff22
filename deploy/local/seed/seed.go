// Package seed fills an empty platform with a demo: two tenants with their brands, teams and order fields, a catalog of 60
// gifts, and campaigns. It uses only the operations plane over gRPC.
//
// Every record has a fixed id and every call is a put, so putting the demo again changes nothing. Digest shows whether a demo that
// was put earlier is still the same.
package seed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// revision is part of Digest, which does not read code and pictures. Change it when they change the demo.
const revision = "4"

// The records of the demo that its users need.
var (
	// Direct is the tenant whose orders need no approval, Approving the one whose orders wait for approval.
	Direct    = id("tenant/nordlys")
	Approving = id("tenant/rheingold")
	// Approver is a Coordinator of Approving.
	Approver = memberID("felix.brandt@rheingold.example")

	// Brand and Campaign belong to Direct.
	Brand    = id("brand/nordlys-casino")
	Campaign = id("campaign/midsummer")
	// Product has no variations, is delivered to Sweden, and the campaign offers it without limit.
	Product = GiftID("dark-truffles")
)

// Currency is that of the budgets of Direct.
const Currency = "SEK"

// Installer is the back-office account in whose name the records of the demo are put.
var Installer = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "installer"}

// GiftID is the id of the gift with the slug.
func GiftID(slug string) string { return id("gift/" + slug) }

// id derives a fixed id from a name.
func id(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://partner-gifting.example/demo/"+name)).String()
}

// Digest changes with the data files, the words and the revision of the demo.
func Digest() (string, error) {
	hash := sha256.New()
	hash.Write([]byte(revision))
	names, err := dataFiles()
	if err != nil {
		return "", err
	}
	for _, name := range append(names, "words.json") {
		content, err := data.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read demo: %w", err)
		}
		hash.Write(content)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// seeder puts the demo through the operations plane.
type seeder struct {
	tenants tenantsv1.TenantOperationsServiceClient
	catalog catalogv1.CatalogOperationsServiceClient
	logos   catalogv1.BrandLogosServiceClient

	campaigns catalogv1.CampaignOperationsServiceClient

	// sharedPicture is the file id of the one picture of all gifts. If it is empty, each gift has its own.
	sharedPicture string
}

// PutDemo puts all records of the demo. tenants and catalog are connections to the two services. With fewPictures all gifts have
// the same picture, and brands have neither a hero picture nor pictures of a sender.
func PutDemo(ctx context.Context, tenants, catalog grpc.ClientConnInterface, fewPictures bool) error {
	s := &seeder{
		tenants: tenantsv1.NewTenantOperationsServiceClient(tenants),
		catalog: catalogv1.NewCatalogOperationsServiceClient(catalog),
		logos:   catalogv1.NewBrandLogosServiceClient(catalog),

		campaigns: catalogv1.NewCampaignOperationsServiceClient(catalog),
	}
	if fewPictures {
		var err error
		if s.sharedPicture, err = s.uploadPicture(ctx, "dark-truffles"); err != nil {
			return fmt.Errorf("put the demo: %w", err)
		}
	}
	for _, step := range []func(context.Context) error{
		s.putTenants, s.putRegionsAndRates, s.putGifts, s.putCampaigns, s.putGreetings,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("put the demo: %w", err)
		}
	}
	return nil
}
