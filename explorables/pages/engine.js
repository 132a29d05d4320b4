"use strict";
// Kolmo's own code, compiled for the browser. Requests and answers are JSON. `KOLMO_PROGRAM` is the compressed program in base64, because
// a page opened from a file may not read another file.
const kolmo = {
  program: null,
  code: null,

  async open() {
    if (!this.program) {
      const compressed = Uint8Array.from(atob(KOLMO_PROGRAM), (c) => c.charCodeAt(0));
      const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
      this.program = await WebAssembly.compile(await new Response(stream).arrayBuffer());
    }
    this.code = (await WebAssembly.instantiate(this.program, {})).exports;
  },

  // Returns the answer to a request; throws an Error with the message if it is refused.
  ask(request) {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const { memory, request_buffer, ask, answer } = this.code;
    const address = request_buffer(bytes.length);
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    let length;
    try {
      length = ask();
    } catch (trap) {
      const message = this.panicMessage();
      this.open(); // After a panic the program must be loaded again.
      throw new Error(message || String(trap));
    }
    const response = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length)));
    if ("error" in response) throw new Error(response.error);
    return response.ok;
  },

  // Returns the message of the last panic.
  panicMessage() {
    const { memory, panic_message, panic_message_length } = this.code;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, panic_message(), panic_message_length()));
  },

  // Returns the numbers of the last picture.
  picture(length) {
    return new Float32Array(this.code.memory.buffer, this.code.picture(), length);
  },
};
