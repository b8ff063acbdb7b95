// Loaded before a program that serves HTTP to everybody: it serves this machine only, at a free port
// that it prints.
import net from 'node:net';
import process from 'node:process';

const { listen } = net.Server.prototype;

net.Server.prototype.listen = function (port, ...more) {
  this.on('listening', () => process.stderr.write(`loopback port ${this.address().port}\n`));
  return listen.call(this, 0, '127.0.0.1', ...more.filter(each => typeof each === 'function'));
};
