"use strict";
// Kolmo's own code, compiled for the browser: requests and answers in JSON. `KOLMO_PROGRAM` is the program, compressed, in base64, because
// a page opened from a file may not read another file.
const kolmo = {
  program: null,
  code: null,

  async open() {
    if (!this.program) {
      const packed = Uint8Array.from(atob(KOLMO_PROGRAM), (c) => c.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
      this.program = await WebAssembly.compile(await new Response(stream).arrayBuffer());
    }
    this.code = (await WebAssembly.instantiate(this.program, {})).exports;
  },

  // Returns the answer to a request; throws an Error with the message if it is refused.
  ask(question) {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    const { memory, room, ask, answer } = this.code;
    const at = room(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    let length;
    try {
      length = ask();
    } catch (trap) {
      const words = this.lastWords();
      this.open(); // After a panic the program must be loaded again.
      throw new Error(words || String(trap));
    }
    const told = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length)));
    if ("error" in told) throw new Error(told.error);
    return told.ok;
  },

  lastWords() {
    const { memory, complaint, complaint_length } = this.code;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, complaint(), complaint_length()));
  },

  // The numbers of the last picture.
  picture(length) {
    return new Float32Array(this.code.memory.buffer, this.code.picture(), length);
  },
};
