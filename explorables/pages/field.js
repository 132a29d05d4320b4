"use strict";
// A picture of a field. The diverging map is blue to red around zero, the sequential one dark to light.
const field = {
  diverging: [[33, 82, 163], [134, 178, 219], [247, 247, 247], [240, 154, 118], [178, 34, 42]],
  sequential: [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]],

  // Returns a colour for each of 256 steps.
  colours(stops) {
    return Array.from({ length: 256 }, (_, i) => {
      const at = (i / 255) * (stops.length - 1);
      const k = Math.min(stops.length - 2, Math.floor(at));
      return stops[k].map((from, c) => Math.round(from + (stops[k + 1][c] - from) * (at - k)));
    });
  },

  draw(canvas, values, [nx, ny], [low, high], diverging) {
    canvas.width = nx;
    canvas.height = ny;
    const colours = this.colours(diverging ? this.diverging : this.sequential);
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(nx, ny);
    const scale = high > low ? 255 / (high - low) : 0;
    for (let j = 0; j < ny; j++) {
      for (let i = 0; i < nx; i++) {
        // y points upwards.
        const value = values[(ny - 1 - j) * nx + i];
        const step = Math.max(0, Math.min(255, Math.round((value - low) * scale)));
        image.data.set([...colours[scale ? step : 127], 255], 4 * (j * nx + i));
      }
    }
    pen.putImageData(image, 0, 0);
  },
};
