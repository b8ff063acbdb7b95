// A client of vscode-jsonrpc, which cancels with $/cancelRequest, over a message a line.
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  Disposable
} from 'vscode-jsonrpc/node';
import { Cutter } from './cutter.mjs';
import { Child } from './wire.mjs';

class LineReader extends AbstractMessageReader {
  constructor(stream) {
    super();
    this.stream = stream;
  }

  listen(callback) {
    const cutter = new Cutter();

    this.stream.on('data', chunk => {
      cutter.add(chunk);
      for (let piece; (piece = cutter.next());) callback(JSON.parse(piece.bytes.toString()));
    });
    return Disposable.create(() => {});
  }
}

class LineWriter extends AbstractMessageWriter {
  constructor(stream) {
    super();
    this.stream = stream;
  }

  async write(message) {
    this.stream.write(`${JSON.stringify(message)}\n`);
  }

  end() {}
}

export class LineSession extends Child {
  constructor(test, server, canceld) {
    super(test, server, { canceld });
    this.connection = createMessageConnection(
      new LineReader(this.child.stdout),
      new LineWriter(this.child.stdin)
    );
    this.connection.listen();
  }

  request(method, params, ...token) {
    return this.connection.sendRequest(method, params, ...token);
  }

  notify(method, params) {
    return this.connection.sendNotification(method, params);
  }
}
