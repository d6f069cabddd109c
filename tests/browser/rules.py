# SPDX-License-Identifier: Apache-2.0
"""rules.py - rules for pages that anybody can use, as JavaScript that returns what breaks them (after WCAG 2.2, AA)."""

# 1.4.3: contrast of text with what is behind it, by relative luminance; through all ancestors that have a background.
CONTRAST = r"""
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
function rgba(text) {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    const d = canvas.getImageData(0, 0, 1, 1).data;
    return [d[0], d[1], d[2], d[3] / 255];
}
function luminance(c) {
    const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]);
}
function behind(e) {
    for (; e; e = e.parentElement) {
        const c = rgba(getComputedStyle(e).backgroundColor);
        if (c[3] > 0.99) return c;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
}
const found = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const e = n.parentElement;
    if (!n.textContent.trim() || e.closest('script, style, select') || !e.checkVisibility()) continue;
    const style = getComputedStyle(e), svg = e.closest('svg');
    const ink = luminance(rgba(svg ? style.fill : style.color)), paper = luminance(behind(e));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) found.set(e.tagName + '.' + (e.getAttribute('class') || ''), ratio.toFixed(2));
}
return Array.from(found, (x) => x.join(' '));
"""

# 1.1.1, 1.3.1, 2.1.1, 2.4.1, 3.1.1, 4.1.2.
RULES = r"""
const bad = [], all = (s) => Array.from(document.querySelectorAll(s));
const say = (e, what) => bad.push(what + ': ' + e.outerHTML.slice(0, 120));
if (document.documentElement.lang !== 'en') bad.push('no language');
if (all('h1').length !== 1 && all('h3').length === 0) bad.push('no heading of the page');
if (all('main').length !== 1) bad.push('not one main part');
const ids = new Set();
all('[id]').forEach((e) => { if (ids.has(e.id)) say(e, 'id twice'); ids.add(e.id); });
all('input, select').forEach((e) => { if (!e.labels.length) say(e, 'no label'); });
all('button, a, summary').forEach((e) => { if (!e.textContent.trim()) say(e, 'no name'); });
all('svg').forEach((e) => {
    const title = e.firstElementChild; // the name of a drawing whose parts have names of their own
    if (title && title.tagName === 'title' && title.textContent.trim()) return;
    if (e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label')) say(e, 'no name');
});
all('thead th').forEach((e) => { if (e.scope !== 'col') say(e, 'no scope'); });
all('[tabindex]').forEach((e) => { if (e.tabIndex > 0) say(e, 'order of its own'); });
all('[role=region]').forEach((e) => { if (!e.getAttribute('aria-label')) say(e, 'no name'); });
all('a[href^="#"]').forEach((e) => { if (!document.getElementById(e.hash.slice(1).split(';')[0])) say(e, 'leads nowhere'); });
let last = 1;
all('h1, h2, h3, h4').forEach((e) => {
    const level = Number(e.tagName[1]);
    if (level > last + 1) say(e, 'heading skips a level');
    last = level;
});
all('*').forEach((e) => {
    for (const a of e.attributes) if (/^on|^style$|^src$|^srcdoc$|^action$/.test(a.name)) say(e, 'attribute ' + a.name);
});
return bad.slice(0, 20);
"""
