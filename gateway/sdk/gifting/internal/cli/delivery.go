package cli

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var errVersion = errors.New("name the version of the order that you correct: --expected-version; gifting orders get shows it")

// correction is what the flags of a correction set. A text that is given is sent even if it is empty.
type correction struct {
	request   gifting.UpdateDeliveryRequest
	recipient gifting.DeliveryCorrection
	address   gifting.AddressCorrection
	urgent    bool
}

// texts are the members that are texts, with their flags.
func (c *correction) texts() []correctedText {
	return []correctedText{
		{"recipient.name", "name of the recipient", &c.recipient.Name},
		{"recipient.phone", "phone number, such as +46701234567", &c.recipient.Phone},
		{"recipient.email", "e-mail address", &c.recipient.Email},
		{"recipient.address.street", "street and number", &c.address.Street},
		{"recipient.address.postal-code", "postal code", &c.address.PostalCode},
		{"recipient.address.city", "city", &c.address.City},
		{"recipient.address.country", "country; it must be that of the order", &c.address.Country},
		{"courier-comment", "a note for the courier; an empty one clears it", &c.request.CourierComment},
	}
}

type correctedText struct {
	flag, usage string
	member      **string
}

func (a *app) updateDeliveryCommand() *cobra.Command {
	var path string
	var correct correction
	var once idempotent
	var command *cobra.Command
	command = a.command("update-delivery ORDER", "Correct recipient, courier comment or urgency of an order that is PROCESSING", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		var body any
		switch {
		case path != "":
			read, err := a.readJSON(path)
			if err != nil {
				return err
			}
			body = read
		case !command.Flags().Changed("expected-version"):
			return asUsageError(errVersion)
		default:
			body = correct.changed(command)
		}
		var order gifting.Order
		if err := client.Call(ctx, http.MethodPost, "/orders/"+url.PathEscape(args[0])+":update-delivery", body, &order,
			once.options()...); err != nil {
			return err
		}
		return a.print(order)
	})
	command.Long = `update-delivery corrects what its flags name, or what a file says, and keeps everything else. The version
keeps you from correcting what somebody else has changed in the meantime.`
	command.Example = `  gifting orders update-delivery $ORDER --expected-version 0 --recipient.address.street "Storgatan 2"`
	flags := command.Flags()
	flags.StringVarP(&path, "file", "f", "", "the request as JSON; - is the standard input")
	flags.Int64Var(&correct.request.ExpectedVersion, "expected-version", 0, "the version of the order that you correct (required)")
	flags.BoolVar(&correct.urgent, "urgent", false, "whether the order is urgent")
	exclusive := []string{"expected-version", "urgent"}
	for _, text := range correct.texts() {
		*text.member = new(string)
		flags.StringVar(*text.member, text.flag, "", text.usage)
		exclusive = append(exclusive, text.flag)
	}
	for _, name := range exclusive {
		command.MarkFlagsMutuallyExclusive("file", name)
	}
	return a.once(command, &once)
}

// changed is the request with the members whose flags are given.
func (c *correction) changed(of *cobra.Command) gifting.UpdateDeliveryRequest {
	for _, text := range c.texts() {
		if !of.Flags().Changed(text.flag) {
			*text.member = nil
		}
	}
	if of.Flags().Changed("urgent") {
		c.request.Urgent = &c.urgent
	}
	c.recipient.Address, c.request.Recipient = &c.address, &c.recipient
	return c.request
}
