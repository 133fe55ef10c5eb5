// Draws the picture that a member of the story posts, so that no licence is needed.
export const LANDING_PAGE = `<!doctype html><style>
  body { margin: 0; width: 960px; height: 600px; overflow: hidden; font-family: system-ui, sans-serif; color: #fff;
    background: linear-gradient(#f9c58d 0%, #f492a5 34%, #7a6fb0 58%, #2b4a7d 58.2%, #173057 100%) }
  svg { position: absolute; inset: 0 }
  h1 { position: absolute; left: 56px; top: 44px; margin: 0; font-size: 56px; line-height: 1.1; text-shadow: 0 2px 18px #5a3a6a99 }
  p { position: absolute; left: 56px; top: 452px; margin: 0; padding: 18px 34px; border-radius: 14px; background: #0b5a6b;
    font-size: 28px; font-weight: 600 }
</style>
<svg viewBox="0 0 960 600">
  <circle cx="700" cy="330" r="74" fill="#ffe3b0"/>
  <path d="M0 349 L120 290 L210 330 L330 262 L470 349 Z" fill="#5b5590"/>
  <path d="M250 349 L400 300 L520 349 Z" fill="#4a4a80"/>
  <g fill="#ffe3b0" opacity=".55"><rect x="640" y="362" width="120" height="5" rx="2"/><rect x="662" y="380" width="80" height="5" rx="2"/>
    <rect x="620" y="402" width="150" height="6" rx="3"/><rect x="672" y="428" width="70" height="6" rx="3"/></g>
  <g transform="translate(470 318)"><path d="M0 60 H300 L270 104 H34 Z" fill="#fff"/><path d="M4 68 H297 L292 76 H8 Z" fill="#d9483b"/>
    <rect x="50" y="24" width="196" height="36" rx="6" fill="#fff"/><rect x="92" y="-4" width="96" height="30" rx="6" fill="#fff"/>
    <rect x="196" y="-30" width="26" height="56" rx="3" fill="#d9483b"/>
    <g fill="#2b4a7d"><rect x="64" y="34" width="24" height="14" rx="3"/><rect x="100" y="34" width="24" height="14" rx="3"/>
    <rect x="136" y="34" width="24" height="14" rx="3"/><rect x="172" y="34" width="24" height="14" rx="3"/>
    <rect x="208" y="34" width="24" height="14" rx="3"/><rect x="104" y="5" width="72" height="12" rx="3"/></g></g>
</svg>
<h1>The other shore<br>is 40 minutes away</h1><p>Book a crossing</p>`;
