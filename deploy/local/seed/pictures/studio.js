// The studio that every picture is taken in: a backdrop, a floor, light from the upper left, and the shapes that gifts are made of.
// Coordinates are 800 by 600, of which the camera shows the middle; gifts are placed on the floor, around y = 490.
"use strict";

let defs = [];
let serial = 0;
const pictures = {};

// picture registers a drawing under the name of its gift.
function picture(name, backdrop, draw) { pictures[name] = () => scene(backdrop, draw); }

function def(make) {
  const id = `d${serial++}`;
  defs.push(make(id));
  return id;
}

// Colours are mixed with white (to 1) or black (to -1).
function shade(hex, amount) {
  const n = parseInt(hex.slice(1), 16), to = amount > 0 ? 255 : 0, share = Math.abs(amount);
  const mix = (shift) => Math.round(((n >> shift) & 255) * (1 - share) + to * share);
  return "#" + [16, 8, 0].map((s) => mix(s).toString(16).padStart(2, "0")).join("");
}

const stopsOf = (stops) => stops.map(([at, colour, opacity = 1]) =>
  `<stop offset="${at}" stop-color="${colour}" stop-opacity="${opacity}"/>`).join("");

const lin = (x1, y1, x2, y2, ...stops) =>
  `url(#${def((id) => `<linearGradient id="${id}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}">${stopsOf(stops)}</linearGradient>`)})`;
const rad = (cx, cy, r, ...stops) =>
  `url(#${def((id) => `<radialGradient id="${id}" cx="${cx}" cy="${cy}" r="${r}">${stopsOf(stops)}</radialGradient>`)})`;

// Materials: round things, upright faces, spheres, metal and clear glass.
const round = (c) => lin(0, 0, 1, 0, [0, shade(c, -.32)], [.1, shade(c, -.08)], [.28, shade(c, .28)], [.42, shade(c, .06)], [.72, shade(c, -.18)], [1, shade(c, -.46)]);
const soft = (c) => lin(0, 0, 1, 0, [0, shade(c, -.14)], [.3, shade(c, .14)], [.6, c], [1, shade(c, -.22)]);
const face = (c) => lin(0, 0, .35, 1, [0, shade(c, .16)], [.55, c], [1, shade(c, -.2)]);
const side = (c) => lin(0, 0, 1, 0, [0, shade(c, -.3)], [1, shade(c, -.45)]);
const ball = (c) => rad(.34, .28, .8, [0, shade(c, .55)], [.3, shade(c, .1)], [.7, shade(c, -.22)], [1, shade(c, -.5)]);
const metal = (c) => lin(0, 0, 1, 0, [0, shade(c, -.5)], [.14, shade(c, .35)], [.22, shade(c, .75)], [.34, shade(c, .1)], [.62, shade(c, -.28)], [.85, shade(c, .2)], [1, shade(c, -.5)]);
const clear = (tint = "#ffffff") => lin(0, 0, 1, 0, [0, tint, .75], [.1, tint, .28], [.25, "#ffffff", .5], [.4, tint, .16], [.8, tint, .22], [1, shade(tint, -.25), .6]);

const blurred = (by) => `filter="url(#${def((id) => `<filter id="${id}" filterUnits="userSpaceOnUse" x="-900" y="-900" width="2700" height="2400"><feGaussianBlur stdDeviation="${by}"/></filter>`)})"`;
const clip = (shapes) => `clip-path="url(#${def((id) => `<clipPath id="${id}">${shapes}</clipPath>`)})"`;

// Shapes. All take a fill or other attributes last.
const attrs = (paint) => typeof paint === "string" ? `fill="${paint}"` : Object.entries(paint).map(([k, v]) => `${k}="${v}"`).join(" ");
const path = (d, paint) => `<path d="${d}" ${attrs(paint)}/>`;
const rect = (x, y, w, h, r, paint) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${r}" ${attrs(paint)}/>`;
const oval = (cx, cy, rx, ry, paint) => `<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" ${attrs(paint)}/>`;
const line = (d, colour, width, more = {}) => path(d, { fill: "none", stroke: colour, "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round", ...more });
const group = (transform, ...parts) => `<g transform="${transform}">${parts.join("")}</g>`;
const text = (x, y, size, colour, words, more = "") =>
  `<text x="${x}" y="${y}" font-size="${size}" fill="${colour}" text-anchor="middle" font-family="Liberation Serif" letter-spacing="${size * .14}" ${more}>${words}</text>`;

// shadow is where a gift touches the floor: a dark line of contact and a soft shadow to the right.
const shadow = (cx, y, rx, ry = rx * .16) =>
  `<g ${blurred(16)}>${oval(cx + rx * .18, y + 5, rx * 1.16, ry * 1.5, { fill: "#1d1510", opacity: .24 })}</g>` +
  `<g ${blurred(4)}>${oval(cx + 3, y, rx * .98, ry * .8, { fill: "#1d1510", opacity: .42 })}</g>`;

// can is a cylinder seen from slightly above. Its radius may differ at the bottom.
function can(cx, top, bottom, rx, fill, lid, { ry = rx * .2, rb = rx } = {}) {
  const by = ry * rb / rx;
  return path(`M${cx - rx} ${top}L${cx - rb} ${bottom}A${rb} ${by} 0 0 0 ${cx + rb} ${bottom}L${cx + rx} ${top}Z`, fill) + oval(cx, top, rx, ry, lid);
}

// crate is a box seen from slightly above, with a front and a lid.
function crate(x, y, w, h, depth, c, { lid = shade(c, .2), front = face(c) } = {}) {
  const inset = depth * .55;
  return path(`M${x} ${y}L${x + inset} ${y - depth}H${x + w - inset}L${x + w} ${y}Z`, lin(0, 0, 0, 1, [0, shade(lid, -.12)], [1, lid])) +
    rect(x, y, w, h, 3, front) + line(`M${x + 2} ${y + .5}H${x + w - 2}`, shade(c, .5), 1.4, { opacity: .7 });
}

// bottle draws a bottle upwards from the middle of its base: a body, shoulders, a neck and a cap.
function bottle(cx, base, o) {
  const { h, w, neck = w * .34, neckH = h * .26, shoulder = h * .2, fill, cap, capH = neckH * .5, capW = neck * 1.16, level } = o;
  const top = base - h, sy = top + neckH, by = sy + shoulder, r = w / 2, n = neck / 2, e = r * .16;
  const outline = `M${cx - n} ${top}V${sy}C${cx - n} ${sy + shoulder * .5} ${cx - r} ${sy + shoulder * .35} ${cx - r} ${by}V${base - e}` +
    `Q${cx - r} ${base + e * .6} ${cx} ${base + e * .6}Q${cx + r} ${base + e * .6} ${cx + r} ${base - e}V${by}` +
    `C${cx + r} ${sy + shoulder * .35} ${cx + n} ${sy + shoulder * .5} ${cx + n} ${sy}V${top}Z`;
  let out = "";
  if (o.liquid) {
    out += path(outline, clear(o.tint ?? "#e8f0f0"));
    out += `<g ${clip(path(outline, "#000"))}>${rect(cx - r, level ?? by - shoulder * .4, w, h, 0, { fill: round(o.liquid), opacity: o.depth ?? .92 })}</g>`;
  } else {
    out += path(outline, round(fill));
  }
  out += line(`M${cx - r * .66} ${by + 6}V${base - h * .06}`, "#fff", w * .05, { opacity: .38 });
  out += line(`M${cx - n * .55} ${top + capH + 8}V${sy}`, "#fff", neck * .12, { opacity: .35 });
  if (o.label) {
    const ly = base - h * (o.labelAt ?? .36), lh = o.labelH ?? h * .24;
    out += path(`M${cx - r} ${ly}Q${cx} ${ly + e * .9} ${cx + r} ${ly}V${ly + lh}Q${cx} ${ly + lh + e * .9} ${cx - r} ${ly + lh}Z`, soft(o.label));
    const ink = o.ink ?? "#2c2620";
    (o.words ?? []).forEach((word, i) => { out += text(cx, ly + lh * .42 + i * w * .17 + e, w * (i ? .1 : .14), ink, word); });
    out += line(`M${cx - r * .5} ${ly + lh * .84 + e * .5}H${cx + r * .5}`, o.accent ?? ink, 1.2, { opacity: .7 });
  }
  if (cap) out += rect(cx - capW / 2, top - 3, capW, capH, Math.min(5, capW * .15), (o.capMetal ? metal : round)(cap));
  return out;
}

// Backdrops: wall and floor.
const backdrops = {
  sand: ["#efe3d3", "#e0ceb8"], linen: ["#eeebe4", "#ddd7cb"], clay: ["#e6c8b5", "#d3ab93"], blush: ["#f0dcd6", "#dfc1b8"],
  sage: ["#dbe2d5", "#c2ccb9"], mist: ["#dde5ea", "#c3cfd7"], fog: ["#e3e3e6", "#cbcbd1"], butter: ["#f3e6c4", "#e3d09f"],
  dusk: ["#3b4658", "#2c3444"], moss: ["#3d4a42", "#2d3832"], wine: ["#54323b", "#3f242c"], night: ["#2a2d38", "#1d1f28"],
};

function scene(backdrop, draw) {
  defs = [];
  const [wall, floor] = backdrops[backdrop];
  const room = rect(0, 0, 800, 600, 0, lin(0, 0, 0, 1, [0, shade(wall, .1)], [1, shade(wall, -.04)])) +
    path("M0 410H800V600H0Z", lin(0, 0, 0, 1, [0, shade(floor, -.08)], [.25, floor], [1, shade(floor, .12)])) +
    `<g ${blurred(9)}>${path("M-20 402H820V416H-20Z", { fill: shade(floor, -.25), opacity: .35 })}</g>` +
    `<g ${blurred(40)}>${path("M60 -60L420 -60L640 660L170 660Z", { fill: "#fff", opacity: .13 })}${path("M500 -60L580 -60L800 660L700 660Z", { fill: "#fff", opacity: .09 })}</g>` +
    rect(0, 0, 800, 600, 0, rad(.42, .42, .75, [0, "#fff", .2], [.55, "#fff", 0], [1, "#1d1510", .16]));
  const things = draw();
  return `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="600" viewBox="52 66 696 522"><defs>${defs.join("")}</defs>${room}${things}</svg>`;
}
