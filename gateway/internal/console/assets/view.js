// The page. Everything from the API is rendered as text.

import { html, nothing } from "./lit-html-3.3.3/lit-html.js";
import { repeat } from "./lit-html-3.3.3/directives/repeat.js";
import * as actions from "./actions.js";
import { curl } from "./api.js";
import { latest, records } from "./records.js";

const time = (text) => html`<time datetime=${text}>${new Date(text).toLocaleTimeString()}</time>`;
const status = (text) => html`<span class="status ${text.toLowerCase()}">${text}</span>`;
const field = (event, name) => new FormData(event.target).get(name);

// submitted handles the submit event of a form, which then does not leave the page.
const submitted = (done) => (event) => {
  event.preventDefault();
  done(event);
};

export function connect(state, on) {
  return html`<main class="connect">
    <h1>Sandbox console</h1>
    <p>See the orders, links, events and webhook deliveries of a sandbox key live, and do what people do in production.</p>
    <form @submit=${submitted((event) => (on.connect(field(event, "key").trim()), event.target.reset()))}>
      <label for="key">API key of the sandbox</label>
      <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="gft_sbx_…">
      <button class="primary">Open</button>
    </form>
    <p class="hint">The key stays in this tab. It is forgotten when you close the tab.</p>
    ${notice(state)}
    <p><a href="${document.body.dataset.api}/docs">API reference</a></p>
  </main>`;
}

const notice = (state) => html`<p role="status" class=${state.wrong ? "wrong" : "done"}>${state.notice}</p>`;

export function page(state, on) {
  return html`<a class="skip" href="#orders">Skip to the orders</a>
    <header>
      <h1>Sandbox console</h1>
      <p>${state.me.tenant.name} · ${state.me.key.name} <code>${state.me.key.prefix}…</code></p>
      <p class="hint">${state.live ? "Live" : "Reading the feed"}${state.rate ? ` · ${state.rate.left} of ${state.rate.limit} requests left` : nothing}</p>
      <nav><a href="${document.body.dataset.api}/docs">API reference</a><button @click=${on.forget}>Forget key</button></nav>
    </header>
    <main>
      <section class="start" aria-label="Samples">
        <button class="primary" @click=${() => on.sampleOrder()}>Place a sample order</button>
        <button class="primary" @click=${() => on.sampleLink()}>Create a sample link</button>
        <label><input type="checkbox" .checked=${state.auto} @change=${(event) => on.auto(event.target.checked)}> Let them go on by themselves</label>
      </section>
      ${notice(state)}
      <div class="lists">
        ${list("orders", "Orders", latest(records.orders), (order) => orderCard(order, on), "No order yet. Place a sample order.")}
        ${list("links", "Personal links", latest(records.links), (link) => linkCard(link, on), "No link yet. Create a sample link.")}
        ${list("events", "Events", records.events, eventCard, "No event yet. Each change of an order or link shows up here.")}
        ${list("deliveries", "Webhook deliveries", records.deliveries, (d) => deliveryCard(d, on), "No delivery. The key needs a webhook URL, and gets no events of its own changes.")}
        ${stock(on)}
      </div>
    </main>
    ${lastRequest(state)}`;
}

const list = (id, title, items, card, none) => html`<section aria-labelledby=${id}>
  <h2 id=${id} tabindex="-1">${title} <span class="count">${items.length}</span></h2>
  ${items.length ? html`<ul tabindex="0" aria-labelledby=${id}>${repeat(items, (item) => item.id, (item) => html`<li>${card(item)}</li>`)}</ul>` : html`<p class="hint">${none}</p>`}
</section>`;

const buttons = (of, name, on) => of.map((action) => html`<button aria-label="${action.label} ${name}" @click=${() => on.act(action)}>${action.label}</button>`);

const orderCard = (order, on) => html`
  <p class="head"><strong>${order.reference}</strong>${status(order.status)}</p>
  <p>${order.items[0]?.productName} <span class="hint">to ${order.deliveryCountry}, ${time(order.updatedAt)}</span></p>
  ${order.shipments.map((s) => html`<p class="hint">${s.carrier} ${s.trackingReference}</p>`)}
  <p class="acts">${buttons(actions.ofOrder(order), order.reference, on)}</p>
  <details><summary>More<span class="unseen"> for ${order.reference}</span></summary>
    <form @submit=${submitted((event) => on.act(actions.correctStatus(order, field(event, "status"))))}>
      <label>Status <select name="status">${actions.statuses.map((s) => html`<option>${s}</option>`)}</select></label><button>Correct status</button>
    </form>
    <form @submit=${submitted((event) => (on.act(actions.postMessage(order, field(event, "body"))), event.target.reset()))}>
      <label>Message of the operator <input name="body" required maxlength="4000" autocomplete="off"></label><button>Post message</button>
    </form>
  </details>`;

// A link is opened only if it is an address of the web.
const address = (url) => (/^https?:\/\//.test(url) ? html`<a href=${url} target="_blank" rel="noopener noreferrer">Open the gift site</a>` : nothing);

const linkCard = (link, on) => html`
  <p class="head"><strong>${link.externalRecipientId ?? link.id.slice(-12)}</strong>${status(link.status)}</p>
  <p class="hint">${time(link.updatedAt)} ${link.status === "ACTIVE" ? address(link.claimUrl) : nothing}</p>
  <p class="acts">${buttons(actions.ofLink(link), `link ${link.id.slice(-12)}`, on)}</p>`;

const json = (value, label) => html`<pre tabindex="0" role="region" aria-label=${label}>${JSON.stringify(value, null, 2)}</pre>`;

const subject = ({ data }) => (data.order ?? data).reference ?? data.externalRecipientId;
const eventCard = (event) => html`<details><summary>${event.type} <span class="hint">${subject(event)} ${time(event.occurredAt)}</span></summary>${json(event, event.type)}</details>`;

const deliveryCard = (delivery, on) => html`
  <p class="head"><strong>${delivery.type}</strong>${status(delivery.state)}</p>
  ${delivery.attempts.map((a) => html`<p class="hint">${time(a.at)} ${a.status ?? a.error}, ${a.durationMs} ms ${a.responseBody ? html`<code>${a.responseBody}</code>` : nothing}</p>`)}
  ${delivery.nextAttemptAt ? html`<p class="hint">Next attempt ${time(delivery.nextAttemptAt)}</p>` : nothing}
  <p class="acts">${buttons([actions.resend(delivery)], `${delivery.type} ${delivery.id.slice(-12)}`, on)}</p>`;

const stock = (on) => html`<section aria-labelledby="stock">
  <h2 id="stock">Stock of campaigns</h2>
  <p class="acts"><button @click=${() => on.loadStock()}>Read the stock</button></p>
  ${records.campaigns.map((campaign) => html`<h3>${campaign.name}</h3>
    ${campaign.offerings.flatMap((offering) => offering.skus.filter((sku) => sku.stockRemaining !== null).map((sku) => html`
      <form @submit=${submitted((event) => on.act(actions.setStock(campaign, sku.id, Number(field(event, "left")))))}>
        <label>${offering.name} ${Object.values(sku.variations).join(", ")} <span class="hint">${sku.stockRemaining} left</span> <input name="left" type="number" min="0" required .value=${String(sku.stockRemaining)}></label>
        <button>Set stock</button>
      </form>`))}`)}
</section>`;

const lastRequest = (state) => !state.last ? nothing : html`<aside aria-label="Last request">
  <details ?open=${matchMedia("(min-width: 60rem)").matches}>
    <summary>${state.last.method} ${state.last.path.split("?")[0]} <strong>${state.last.status ?? "…"}</strong></summary>
    <h2>As curl</h2><pre tabindex="0" role="region" aria-label="Request as curl">${curl(state.last)}</pre>
    <h2>Answer</h2>${json(state.last.answer ?? {}, "Answer")}
  </details>
</aside>`;
