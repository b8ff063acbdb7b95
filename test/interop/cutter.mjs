// Cuts a stream into lines and into the bodies that headers announce.
export class Cutter {
  rest = Buffer.alloc(0);
  announced = 0;
  body = 0;

  add(chunk) {
    this.rest = Buffer.concat([this.rest, chunk]);
  }

  take(length, behind = 0) {
    const piece = this.rest.subarray(0, length);

    this.rest = this.rest.subarray(length + behind);
    return piece;
  }

  takeBody() {
    if (this.rest.length < this.body) return undefined;

    const bytes = this.take(this.body);

    this.body = this.announced = 0;
    return { bytes, isBody: true };
  }

  takeLine() {
    const end = this.rest.indexOf(10);

    if (end < 0) return undefined;

    const bytes = this.take(end, 1);
    const line = bytes.toString('latin1').trim();

    this.announced = Number(line.match(/^content-length: *(\d+)$/i)?.[1] ?? this.announced);
    if (line === '') this.body = this.announced;
    return { bytes, isBody: false };
  }

  next() {
    return this.body > 0 ? this.takeBody() : this.takeLine();
  }
}
