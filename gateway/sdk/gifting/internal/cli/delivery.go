package cli

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (a *app) updateDeliveryCommand() *cobra.Command {
	var path string
	var recipient gifting.DeliveryCorrection
	var address gifting.AddressCorrection
	var change gifting.UpdateDeliveryRequest
	var once idempotent
	command := a.command("update-delivery ORDER", "Correct recipient, courier comment or urgency of an order that is PROCESSING", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		recipient.Address, change.Recipient = &address, &recipient
		var body any = change
		if path != "" {
			read, err := a.readJSON(path)
			if err != nil {
				return err
			}
			body = read
		}
		var order gifting.Order
		to := "/orders/" + url.PathEscape(args[0]) + ":update-delivery"
		return a.show(&order, client.Call(ctx, http.MethodPost, to, body, &order, once.options()...))
	})
	command.Long = `update-delivery corrects what its flags name, or what a file says, and keeps everything else. The version
keeps you from correcting what somebody else has changed in the meantime.`
	command.Example = `  gifting orders update-delivery $ORDER --expected-version 0 --recipient.address.street "Storgatan 2"`
	flags := command.Flags()
	flags.StringVarP(&path, "file", "f", "", "the request as JSON; - is the standard input")
	flags.Int64Var(&change.ExpectedVersion, "expected-version", 0, "the version of the order that you correct, as orders get shows it")
	flags.BoolFunc("urgent", "whether the order is urgent", func(text string) error {
		urgent, err := strconv.ParseBool(text)
		change.Urgent = &urgent
		return err
	})
	command.MarkFlagsOneRequired("file", "expected-version")
	command.MarkFlagsMutuallyExclusive("file", "expected-version")
	command.MarkFlagsMutuallyExclusive("file", "urgent")
	for _, text := range []struct {
		flag, usage string
		member      **string
	}{
		{"recipient.name", "name of the recipient", &recipient.Name},
		{"recipient.phone", "phone number, such as +46701234567", &recipient.Phone},
		{"recipient.email", "e-mail address", &recipient.Email},
		{"recipient.address.street", "street and number", &address.Street},
		{"recipient.address.postal-code", "postal code", &address.PostalCode},
		{"recipient.address.city", "city", &address.City},
		{"courier-comment", "a note for the courier; an empty one clears it", &change.CourierComment},
	} {
		flags.Var(optionalText{text.member}, text.flag, text.usage)
		command.MarkFlagsMutuallyExclusive("file", text.flag)
	}
	terminal.MayBeEmpty(command, "courier-comment")
	return a.idempotencyFlag(command, &once)
}

// optionalText is a flag for a member that is left out unless the flag is given.
type optionalText struct{ member **string }

// Set implements pflag.Value.
func (o optionalText) Set(given string) error {
	*o.member = &given
	return nil
}

// String implements pflag.Value. Help makes one without a member.
func (o optionalText) String() string {
	if o.member == nil {
		return ""
	}
	return text(*o.member)
}

// Type implements pflag.Value.
func (optionalText) Type() string { return "string" }
