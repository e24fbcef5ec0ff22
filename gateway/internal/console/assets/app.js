// The console: its state, and what the buttons do.

import { render } from "./lit-html-3.3.3/lit-html.js";
import { key, rate, request, send } from "./api.js";
import { follow, sleep } from "./feed.js";
import { add, addEvents, clear, records } from "./records.js";
import * as samples from "./samples.js";
import * as view from "./view.js";

const fresh = () => ({ me: null, live: false, rate: null, last: null, auto: false, notice: "", wrong: false });
let state = fresh();
let session = new AbortController();
let reading = new AbortController();
let unreadSince = null;

function draw(changes = {}) {
  Object.assign(state, changes);
  render(state.me ? view.page(state, on) : view.connect(state, on), document.getElementById("app"));
}

const counted = (headers) => ({ rate: rate(headers) ?? state.rate });
const say = (notice, wrong = false) => draw({ notice, wrong });

// read reads what the page shows by itself.
async function read(path) {
  const { answer, headers } = await send(request("GET", path), session.signal);
  draw(counted(headers));
  return answer;
}

// show sends a call of the user, and shows it with its answer.
async function show(label, call) {
  const { signal } = session;
  draw({ last: call });
  try {
    const { status, answer, headers } = await send(call, signal);
    Object.assign(call, { status, answer });
    add(answer);
    for (const result of answer.results ?? []) add(result.link);
    draw({ ...counted(headers), notice: `${label}: done.`, wrong: false });
  } catch (error) {
    if (signal.aborted) return; // The key was forgotten, and the call with it.
    Object.assign(call, { status: error.status ?? "no answer", answer: error.problem });
    draw({ ...counted(error.headers), notice: `${label}: ${error.message}`, wrong: true });
  }
}

// failing runs what may fail, and says why it did.
async function failing(label, work) {
  const { signal } = session;
  try {
    await work();
  } catch (error) {
    if (!signal.aborted) say(`${label}: ${error.message}`, true);
  }
}

// readDeliveries reads them a little after the last event, when most attempts are made. A later call takes the place of this one, but
// not for ever: events that follow each other without a pause must not keep the list from being read.
async function readDeliveries() {
  reading.abort();
  const { signal } = (reading = new AbortController());
  unreadSince ??= Date.now();
  await sleep(Math.min(1.5, Math.max(0, 5 - (Date.now() - unreadSince) / 1000)), signal);
  if (!signal.aborted && !session.signal.aborted) {
    unreadSince = null;
    await failing("Webhook deliveries", async () => {
      records.deliveries = (await read("/webhooks/deliveries?limit=20")).items;
      draw();
    });
  }
}

async function readRecords() {
  const { scopes } = state.me.key;
  for (const [scope, path] of [["ORDERS", "/orders"], ["PERSONAL_LINKS", "/personal-links"]]) {
    if (scopes.includes(scope)) (await read(`${path}?limit=50`)).items.toReversed().forEach(add);
  }
  draw();
}

async function open() {
  session = new AbortController();
  const { signal } = session;
  await failing("Key", async () => draw({ me: await read("/me"), notice: "", wrong: false }));
  if (!state.me) return key.forget();
  failing("Records", readRecords);
  readDeliveries();
  follow(signal, (events, headers) => {
    addEvents(events);
    draw({ live: true, ...counted(headers) });
    if (events.length) readDeliveries();
  }, (error) => draw({ live: false, notice: `Event feed: ${error.message}`, wrong: true }));
}

const on = {
  connect(value) {
    key.keep(value);
    open();
  },
  forget() {
    session.abort();
    reading.abort();
    unreadSince = null;
    key.forget();
    clear();
    state = fresh();
    draw();
  },
  auto: (auto) => draw({ auto }),
  act: async ({ label, path, body }) => {
    await show(label, request("POST", path, body));
    if (path.endsWith(":resend")) readDeliveries();
  },
  sampleOrder: () => failing("Sample order", async () =>
    show("Sample order", request("POST", "/orders", await samples.order(state.me.tenant, state.auto, read)))),
  sampleLink: () => failing("Sample link", async () =>
    show("Sample link", request("POST", "/personal-links:create-batch", await samples.link(state.auto, read)))),
  loadStock: () => failing("Stock", async () => {
    const { items } = await read("/campaigns?status=ACTIVE&limit=10");
    records.campaigns = await Promise.all(items.map((campaign) => read(`/campaigns/${encodeURIComponent(campaign.id)}`)));
    draw();
  }),
};

draw();
if (key.read()) open();
