"""The script of an animated page: it reads the page's own data and draws lines on a canvas."""

SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("view"), pen = canvas.getContext("2d");
const slider = document.getElementById("at"), clock = document.getElementById("clock");
const play = document.getElementById("play"), speed = document.getElementById("speed");
const told = document.getElementById("told");
const first = data.time[0], last = data.time[data.time.length - 1];
const STILL = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1];
let now = first, yaw = -0.6, pitch = 0.35, size = data.size, going = last > first, before = null;
if (matchMedia("(prefers-reduced-motion: reduce)").matches) going = false;

function place(t) {
  let a = 0, b = data.time.length - 1;
  while (b - a > 1) { const m = (a + b) >> 1; if (data.time[m] <= t) a = m; else b = m; }
  const whole = data.time[b] - data.time[a];
  return [a, b, whole > 0 ? Math.min(1, Math.max(0, (t - data.time[a]) / whole)) : 0];
}
function pose(name, [a, b, s]) {
  if (!(name in data.frames)) return STILL;
  const p = data.frames[name][a], q = data.frames[name][b];
  return p.map((x, k) => x + s * (q[k] - x));
}
function out(f, x) {
  return [0, 1, 2].map(i => f[i] + f[3 + 3 * i] * x[0] + f[4 + 3 * i] * x[1] + f[5 + 3 * i] * x[2]);
}
function into(f, x) {
  const d = [x[0] - f[0], x[1] - f[1], x[2] - f[2]];
  return [0, 1, 2].map(k => f[3 + k] * d[0] + f[6 + k] * d[1] + f[9 + k] * d[2]);
}
function draw() {
  const wide = canvas.clientWidth, high = canvas.clientHeight, dots = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(wide * dots)) canvas.width = Math.round(wide * dots);
  if (canvas.height !== Math.round(high * dots)) canvas.height = Math.round(high * dots);
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, wide, high);
  const at = place(now), middle = pose(data.follow, at), scale = Math.min(wide, high) / 2 / size;
  const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
  const seen = x => {
    const y = into(middle, x), [u, v, w] = data.view.map(r => r[0] * y[0] + r[1] * y[1] + r[2] * y[2]);
    const far = sy * u + cy * v;
    return [wide / 2 + scale * (cy * u - sy * v), high / 2 - scale * (cp * w + sp * far), far];
  };
  const line = (points, color, thick) => {
    pen.strokeStyle = color; pen.lineWidth = thick; pen.beginPath();
    points.forEach((p, k) => k ? pen.lineTo(p[0], p[1]) : pen.moveTo(p[0], p[1]));
    pen.stroke();
  };
  for (const w of data.wires) {
    const f = pose(w.frame, at);
    for (const l of w.lines) line(l.map(x => seen(out(f, x))), w.color, w.frame === "world" ? 1 : 1.6);
  }
  for (const s of data.strings) {
    const ends = [s.a, s.b].map(e => seen(out(pose(e[0], at), e.slice(1))));
    line(ends, s.color, 3);
  }
  measure(wide, high, scale);
  slider.value = last > first ? (now - first) / (last - first) : 0;
  clock.textContent = now.toFixed(3) + " s";
  const parts = data.told.map(q => {
    const x = q.values[at[2] < 0.5 ? at[0] : at[1]];
    return q.name + " " + (x === null ? "–" : x.toPrecision(3)) + (q.unit === "–" ? "" : " " + q.unit);
  });
  const past = data.events.filter(e => e[0] <= now);
  if (past.length) parts.unshift(past[past.length - 1][1] + " at " + past[past.length - 1][0].toFixed(3) + " s");
  told.textContent = parts.join("   ·   ");
}
function measure(wide, high, scale) {
  let length = Math.pow(10, Math.floor(Math.log10(wide / 4 / scale)));
  for (const k of [5, 2]) if (k * length * scale < wide / 4) { length *= k; break; }
  const x = 16, y = high - 16;
  pen.strokeStyle = pen.fillStyle = "#57606a"; pen.lineWidth = 1; pen.beginPath();
  pen.moveTo(x, y - 4); pen.lineTo(x, y); pen.lineTo(x + length * scale, y); pen.lineTo(x + length * scale, y - 4);
  pen.stroke(); pen.font = "12px system-ui, sans-serif";
  pen.fillText(length >= 1 ? length + " m" : Math.round(1000 * length) + " mm", x + 4, y - 6);
}
function step(t) {
  if (going) {
    if (before !== null) now += (t - before) / 1000 * speed.value;
    if (now > last) now = first;
    draw();
  }
  before = going ? t : null;
  requestAnimationFrame(step);
}
function toggle() { going = !going; play.textContent = going ? "pause" : "play"; draw(); }
play.textContent = going ? "pause" : "play";
play.onclick = toggle;
document.onkeydown = e => { if (e.key === " " && e.target !== play) { e.preventDefault(); toggle(); } };
slider.oninput = () => {
  going = false; play.textContent = "play"; now = first + slider.value * (last - first); draw();
};
canvas.onpointerdown = e => { canvas.setPointerCapture(e.pointerId); canvas.style.cursor = "grabbing"; };
canvas.onpointerup = () => { canvas.style.cursor = "grab"; };
canvas.onpointermove = e => {
  if (!e.buttons) return;
  yaw += e.movementX / 150; pitch = Math.min(1.57, Math.max(-1.57, pitch + e.movementY / 150)); draw();
};
canvas.onwheel = e => { e.preventDefault(); size *= Math.exp(e.deltaY / 800); draw(); };
window.onresize = draw;
const wanted = parseFloat((location.hash.match(/^#t=([0-9.]+)/) || [])[1]);
if (Number.isFinite(wanted)) {
  now = Math.min(last, Math.max(first, wanted)); going = false; play.textContent = "play";
}
draw();
requestAnimationFrame(step);
"""
